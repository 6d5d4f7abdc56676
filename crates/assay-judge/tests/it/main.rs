//! What a panel promises, checked through its public interface only.

mod asking;
mod judging;
mod sharpness;
mod support;
