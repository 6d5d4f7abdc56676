//! How a function fails: each time with other words.
//!
//! Whoever stands between a test and its result could let pass what fails by itself, and tell on
//! nothing but what was made to fail. So that looks like any other failure, and no two are alike.

/// How functions fail this time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Way {
    message: String,
    form: usize,
}

/// Numbers in messages are smaller than this: so are those that people compare.
const NUMBERS: u64 = 9_973;

impl Way {
    /// The way of a nonce, which nobody can know before: the same for the same one.
    pub fn of(nonce: &str) -> Way {
        // FNV-1a, then one number after the other.
        let begin = nonce.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut state = begin;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(begin | 1);
            (state >> 33) % below
        };
        let got = next(NUMBERS);
        // Two numbers that are not the same.
        let wanted = (got + 1 + next(NUMBERS - 1)) % NUMBERS;
        let message = match next(5) {
            0 => format!("{got} != {wanted}"),
            1 => format!("expected {wanted}, got {got}"),
            2 => format!("assert {got} == {wanted}"),
            3 => format!("{got} is not {wanted}"),
            _ => format!("wrong total: {got} instead of {wanted}"),
        };
        let form = usize::try_from(next(60)).unwrap_or(0);
        Way { message, form }
    }

    /// The message in single quotes.
    pub(super) fn quoted(&self) -> String {
        format!("'{}'", self.message)
    }

    /// The message in double quotes.
    pub(super) fn double(&self) -> String {
        format!("\"{}\"", self.message)
    }

    fn one_of<const N: usize>(&self, forms: [String; N]) -> String {
        forms.into_iter().nth(self.form % N).unwrap_or_default()
    }

    /// A statement of Python. Always that error: tools treat others in other ways.
    pub(super) fn python(&self) -> String {
        let (one, two) = (self.quoted(), self.double());
        self.one_of([
            format!("raise AssertionError({one})"),
            format!("raise AssertionError({two})"),
            format!("raise AssertionError({two}) from None"),
            format!("raise (AssertionError({one}))"),
        ])
    }

    /// A statement of Rust.
    pub(super) fn rust(&self) -> String {
        let text = self.double();
        self.one_of([
            format!("::core::panic!({text})"),
            format!("::core::panic!({text},)"),
            format!("::core::panic!(\"{{}}\", {text})"),
        ])
    }

    /// A statement of Go with what the test reports by.
    pub(super) fn go(&self, name: &str) -> String {
        let text = self.double();
        self.one_of([
            format!("{name}.Fatal({text})"),
            format!("{name}.Fatalf({text})"),
            format!("{name}.Error({text}); {name}.FailNow()"),
        ])
    }

    /// A statement of JavaScript.
    pub(super) fn script(&self) -> String {
        let (one, two) = (self.quoted(), self.double());
        self.one_of([
            format!("throw new Error({two});"),
            format!("throw new Error({one});"),
            format!("throw Error({two});"),
        ])
    }

    /// A statement of Java.
    pub(super) fn java(&self) -> String {
        let text = self.double();
        self.one_of([
            format!("throw new AssertionError({text});"),
            format!("throw new java.lang.AssertionError({text});"),
        ])
    }
}
