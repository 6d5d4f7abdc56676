//! The checkers a plan names, run on a recorded history.
