//! In which order the calls of one answer run.
//!
//! A model that wants several tools at once has them in an order, and may count on it: it edits two
//! places of a file, or writes one and reads it. So what changes the workspace runs alone, when
//! everything before it has ended and before anything after it begins; what only looks at it runs
//! beside its like. Who has nothing to do with the workspace waits for nobody.

use std::collections::VecDeque;

/// What a call has to do with the others of its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Nothing.
    Apart,
    /// It looks at what the others change.
    Looks,
    /// It changes what the others look at.
    Changes,
}

/// The calls that begin at once, and the others in waves: each of these begins when all of the
/// one before has ended.
pub fn waves<T>(calls: impl IntoIterator<Item = (Place, T)>) -> (Vec<T>, VecDeque<Vec<T>>) {
    let (mut apart, mut waves) = (Vec::new(), VecDeque::<Vec<T>>::new());
    let mut is_open = false;
    for (place, call) in calls {
        match (place, waves.back_mut()) {
            (Place::Apart, _) => apart.push(call),
            (Place::Looks, Some(wave)) if is_open => wave.push(call),
            (Place::Looks | Place::Changes, _) => {
                waves.push_back(vec![call]);
                is_open = place == Place::Looks;
            }
        }
    }
    (apart, waves)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_the_workspace_runs_alone_and_in_its_place() {
        let cases = [
            ("", "", ""),
            ("lll", "", "012"),
            ("ccc", "", "0 1 2"),
            ("lclcl", "", "0 1 2 3 4"),
            ("llcclla", "6", "01 2 3 45"),
            ("alac", "02", "1 3"),
            // Who stands apart does not part those who look.
            ("lal", "1", "02"),
        ];
        for (places, apart, expected) in cases {
            let of = |letter| match letter {
                'a' => Place::Apart,
                'l' => Place::Looks,
                _ => Place::Changes,
            };
            let calls = places.chars().enumerate().map(|(index, one)| (of(one), index.to_string()));
            let (free, waves) = waves(calls);
            let waves: Vec<String> = waves.into_iter().map(|wave| wave.concat()).collect();
            assert_eq!((free.concat().as_str(), waves.join(" ").as_str()), (apart, expected));
        }
    }
}
