//! Which line each record stands on, for formats whose records are not lines.

/// Consecutive records whose lines have the same distance from one to the next.
#[derive(Clone, Copy, Debug)]
struct Run {
    record: u32,
    line: u32,
    step: u32,
}

/// Lines by record number. Files are regular (one record a line, all records in one line, so many
/// lines a record), so this stores runs and stays small.
#[derive(Clone, Default, Debug)]
pub(crate) struct RecordLines {
    runs: Vec<Run>,
    next_record: u32,
}

impl RecordLines {
    /// Notes the line of the next record.
    pub(crate) fn push(&mut self, line: u32) {
        let record = self.next_record;
        self.next_record = record.saturating_add(1);
        match self.runs.last_mut() {
            Some(run) if record - run.record == 1 && line >= run.line => run.step = line - run.line,
            Some(run) if run.line_of(record) == Some(line) => {}
            _ => self.runs.push(Run { record, line, step: 0 }),
        }
    }

    /// The line of a record; `None` if it was never noted.
    pub(crate) fn get(&self, record: u32) -> Option<u32> {
        let after = self.runs.partition_point(|run| run.record <= record);
        if record >= self.next_record {
            return None;
        }
        self.runs[..after].last().and_then(|run| run.line_of(record))
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.runs.capacity() * size_of::<Run>()
    }
}

impl Run {
    fn line_of(&self, record: u32) -> Option<u32> {
        self.step.checked_mul(record - self.record).and_then(|lines| lines.checked_add(self.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_keeps_its_line_and_regular_files_need_one_run() {
        let cases: [(&[u32], usize); 5] = [
            (&[1, 2, 3, 4, 5, 6], 1),
            (&[1, 1, 1, 1], 1),
            (&[2, 5, 8, 11], 1),
            (&[1, 2, 3, 7, 8, 9, 9, 9, 9, 30], 4),
            (&[], 0),
        ];
        for (lines, runs) in cases {
            let mut noted = RecordLines::default();
            lines.iter().for_each(|&line| noted.push(line));
            for (record, &line) in lines.iter().enumerate() {
                assert_eq!(noted.get(record as u32), Some(line), "record {record} of {lines:?}");
            }
            assert_eq!(noted.get(lines.len() as u32), None);
            assert_eq!(noted.runs.len(), runs, "{lines:?}");
        }
    }
}
