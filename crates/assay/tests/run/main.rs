//! `assay run` from end to end, through the real binary: real processes, real faults, and what is
//! left when somebody pulls the plug.
//!
//! The harness is a thing under test here. It is broken on purpose ([`sabotage`]), killed
//! ([`killed`], and [`every_fault`] in each of its faults), stopped ([`stopped`]), robbed of its
//! clients ([`clients`]), given systems in other languages ([`adapters`]), plans of several arms
//! ([`arms`]) and nonsense ([`bad_input`]). Beside it: what everybody sees first ([`demo`]), what
//! other programs read ([`exports`]), descriptions that change while a run rests ([`frozen`]), a
//! machine that gives little ([`few_descriptors`]), and faults that begin on events ([`events`]).

mod adapters;
mod arms;
mod bad_input;
mod clients;
mod demo;
mod events;
mod every_fault;
mod exports;
mod few_descriptors;
mod frozen;
mod guide;
mod killed;
mod sabotage;
mod stopped;
mod support;
