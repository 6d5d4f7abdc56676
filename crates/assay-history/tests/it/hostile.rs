//! Input that is torn, truncated, endless, deep or otherwise out to get the reader, in every
//! format.

use crate::common::{briefs, read_as, read_bytes, read_text, row};
use assay_history::{Format, ReadOptions, Rule, ValidateOptions, read, validate};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A write and its success by client `p`, in each format.
fn operation(format: Format, p: usize) -> String {
    match format {
        Format::Jsonl => {
            let (id, client) = (p.to_string(), p.to_string());
            row(&[("op_id", &id), ("process_id", &client), ("key", "\"é\"")])
        }
        Format::JepsenJson => ["invoke", "ok"]
            .map(|kind| {
                format!("{{\"type\":\"{kind}\",\"process\":{p},\"f\":\"write\",\"value\":\"é\"}}\n")
            })
            .concat(),
        Format::JepsenEdn => ["invoke", "ok"]
            .map(|kind| format!("{{:type :{kind}, :process {p}, :f :write, :value \"é\"}}\n"))
            .concat(),
        Format::PorcupineLog => ["invoke", "ok"]
            .map(|kind| format!("INFO  jepsen.util - {p}\t:{kind}\t:write\t\"é\"\n"))
            .concat(),
    }
}

fn operations(format: Format, count: usize) -> String {
    (0..count).map(|p| operation(format, p)).collect()
}

fn formats() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().map(|(format, _)| format)
}

#[test]
fn a_file_cut_anywhere_loses_only_its_last_record() {
    for format in formats() {
        let text = operations(format, 3);
        let whole = read_as(format, &text).unwrap();
        for cut in 1..text.len() {
            let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
            let history = read(&text.as_bytes()[..cut], &options)
                .unwrap_or_else(|error| panic!("{format:?} cut at {cut}: {error}"));
            let ends_whole = text.as_bytes()[cut - 1] == b'\n' || text.as_bytes()[cut] == b'\n';
            let line =
                text[..cut.min(text.floor_char_boundary(cut))].matches('\n').count() as u64 + 1;
            match history.meta.torn_tail {
                Some(torn) => assert_eq!(torn, line, "{format:?} cut at {cut}"),
                None => assert!(ends_whole, "{format:?} cut at {cut} is not noted"),
            }
            let (all, some) = (briefs(&whole), briefs(&history));
            let known = history.ops().filter(|op| op.completed).count();
            assert_eq!(all[..known], some[..known], "{format:?} cut at {cut}");
            assert!(some.len() <= known + 1);
        }
    }
}

#[test]
fn a_json_array_cut_anywhere_loses_only_its_last_record() {
    let text = format!("[{}]", operations(Format::JepsenJson, 3).trim_end().replace('\n', ","));
    for cut in 1..text.len() {
        let history = read_bytes(&text.as_bytes()[..cut]);
        let Ok(history) = history else {
            // Too short to be recognised.
            assert!(cut < 3, "cut at {cut}");
            continue;
        };
        assert!(history.ops().filter(|op| op.completed).count() <= 3);
        let count = |brace| text.as_bytes()[..cut].iter().filter(|&&b| b == brace).count();
        let between = count(b'{') == count(b'}');
        assert_eq!(history.meta.torn_tail.is_none(), between, "cut at {cut}");
    }
}

#[test]
fn truncated_compression_is_an_error_that_says_so() {
    for format in formats() {
        let text = operations(format, 2_000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        let packed = [gzip.finish().unwrap(), zstd::encode_all(text.as_bytes(), 1).unwrap()];
        for packed in packed {
            assert_eq!(read_bytes(&packed).unwrap().len(), 2_000, "{format:?}");
            for cut in [packed.len() / 2, packed.len() - 1] {
                let error = read_bytes(&packed[..cut]).unwrap_err().to_string();
                assert!(error.contains("the compressed file is cut short"), "{format:?}: {error}");
            }
        }
    }
}

#[test]
fn bytes_that_are_not_utf8_are_an_error_with_their_line() {
    for format in formats() {
        let mut bytes = operations(format, 4).into_bytes();
        let third_line = bytes.split(|&b| b == b'\n').take(2).map(|l| l.len() + 1).sum::<usize>();
        let first_accent = bytes[third_line..].iter().position(|&b| b == 0xc3).unwrap();
        bytes[third_line + first_accent] = b' ';
        let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
        let error = read(&bytes[..], &options).unwrap_err();
        assert_eq!(error.line(), Some(3), "{format:?}: {error}");
        assert!(error.message().contains("not valid UTF-8"), "{format:?}: {error}");
        // Also in a last line that has no end.
        bytes.truncate(third_line + first_accent + 5);
        let error = read(&bytes[..], &options).unwrap_err();
        assert_eq!(error.line(), Some(3), "{format:?}: {error}");
    }
}

#[test]
fn nothing_is_a_history_without_operations() {
    for format in formats() {
        for text in ["", "\n", "\r\n  \n\t", "\u{feff}", "\u{feff}\n"] {
            let history =
                read_as(format, text).unwrap_or_else(|e| panic!("{format:?} {text:?}: {e}"));
            assert_eq!((history.len(), history.meta.torn_tail), (0, None), "{format:?} {text:?}");
        }
    }
    for text in ["", "[]", "()", "[ ]\n", "; nothing\n", "{\"event\":\"header\"}\n"] {
        assert_eq!(read_text(text).len(), 0, "{text:?}");
    }
}

#[test]
fn every_format_is_recognised_and_reads_a_thousand_clients() {
    for format in formats() {
        for text in [operations(format, 1_000), operations(format, 1_000).replace('\n', "\r\n")] {
            let text = text.replacen('\n', "\n\n  \n", 3);
            let history = read_text(&format!("\u{feff}{text}"));
            assert_eq!((history.len(), history.process_count()), (1_000, 1_000), "{format:?}");
            assert!(history.ops().all(|op| op.completed && op.error.is_null()));
            assert_eq!(history.meta.records_skipped, 0, "{format:?}");
        }
    }
}

#[test]
fn an_early_mistake_in_a_long_file_ends_the_reading() {
    for format in formats() {
        // Client 0 completes twice: the file is cut well, but cannot be put together.
        let one = operation(format, 0);
        let repeat = one
            .trim_end()
            .lines()
            .last()
            .unwrap()
            .replace("\"op_id\"", "\"event\":\"complete\",\"op_id\"");
        let text = format!("{one}{repeat}\n{}", operations(format, 150_000));
        let error = read_as(format, &text).unwrap_err();
        assert_eq!(error.line(), Some(1 + one.lines().count() as u64), "{format:?}: {error}");
    }
}

#[test]
fn json_over_several_lines_is_recognised() {
    let text = "{\n  \"process\": 0,\n  \"type\": \"invoke\",\n  \"f\": \"read\"\n}\n";
    assert_eq!(read_text(text).len(), 1);
}

#[test]
fn what_is_no_history_is_refused() {
    for text in ["hello", "<html>", "\u{0}\u{1}", "op_id,process_id\n1,2\n", "7", "\"{\""] {
        let error = read_bytes(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("no history Assay knows"), "{text}: {error}");
    }
}

/// Endless bytes: `head`, then `body` for ever. Counts what was taken.
struct Endless {
    head: &'static [u8],
    body: u8,
    taken: Arc<AtomicU64>,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let head = self.head.len().min(buffer.len());
        buffer[..head].copy_from_slice(&self.head[..head]);
        buffer[head..].fill(self.body);
        self.head = &self.head[head..];
        self.taken.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        Ok(buffer.len())
    }
}

#[test]
fn a_record_without_end_is_refused_at_64_mib() {
    let cases: [(&'static [u8], u8); 5] = [
        (b"{\"op_id\":\"", b'x'),
        (b"[{\"type\":\"invoke\",\"value\":\"", b'x'),
        (b"[{\"type\":\"invoke\",\"value\":", b'['),
        (b"{:type :invoke :value ", b'{'),
        (b"INFO  jepsen.util - 0 :invoke :write ", b'7'),
    ];
    for (head, body) in cases {
        let taken = Arc::new(AtomicU64::new(0));
        let source = Endless { head, body, taken: taken.clone() };
        let error = read(source, &ReadOptions::default()).unwrap_err();
        assert_eq!(error.line(), Some(1));
        assert!(error.message().contains("longer than 64 MiB"), "{error}");
        let taken = taken.load(Ordering::Relaxed);
        assert!(taken <= 65 << 20, "{taken} bytes were taken");
    }
}

#[test]
fn long_records_below_the_limit_are_read() {
    let long = "x".repeat(5 << 20);
    let quoted = format!("\"{long}\"");
    let one = row(&[("input", &quoted)]);
    let history = read_text(&(one.clone() + &operations(Format::Jsonl, 9) + &one));
    assert_eq!(history.len(), 11);
    let edn = format!("[{{:type :invoke, :process 5, :f :write, :value {quoted}}}");
    let edn = edn + &operations(Format::JepsenEdn, 3) + "]";
    assert_eq!(read_text(&edn).len(), 4);
}

#[test]
fn deep_nesting_is_refused_without_overflowing_the_stack() {
    let deep = 1_000_000;
    let cases = [
        ("{:type :invoke, :process 0, :f :w, :value ", "[", "]", "}"),
        ("{:type :invoke, :process 0, :f :w, :value ", "{1 ", "}", "}"),
        ("{:type :invoke, :process 0, :f :w, :value ", "#{", "}", "}"),
        ("{\"type\":\"invoke\",\"process\":0,\"f\":\"w\",\"value\":", "[", "]", "}"),
        ("{\"type\":\"invoke\",\"process\":0,\"f\":\"w\",\"value\":", "{\"a\":", "}", "}"),
        (
            "{\"op_id\":1,\"process_id\":0,\"invoke_ts\":1,\"op_type\":\"w\",\"input\":",
            "[",
            "]",
            "}",
        ),
        ("INFO  jepsen.util - 0 :invoke :w ", "(", ")", ""),
    ];
    for (head, open, close, tail) in cases {
        let nested = |levels| {
            let middle = if open.ends_with(':') || open.ends_with(' ') { "1" } else { "" };
            format!("{head}{}{middle}{}{tail}\n", open.repeat(levels), close.repeat(levels))
        };
        assert_eq!(read_text(&nested(64)).len(), 1, "{open}");
        for levels in [66, deep] {
            let error = read_bytes(nested(levels).as_bytes()).unwrap_err();
            assert!(error.message().contains("deeper than 64"), "{open}: {error}");
        }
    }
    // Discards and tags nest too.
    for prefix in ["#_", "#a ", "#_ #b "] {
        let text = format!(
            "{{:type :invoke, :process 0, :f :w, :value {}{}}}",
            prefix.repeat(deep),
            "1 ".repeat(deep + 1)
        );
        let _either_is_fine = read_bytes(text.as_bytes());
    }
}

#[test]
fn ids_that_repeat_and_times_that_run_backwards_are_read_and_reported() {
    let rows = row(&[("invoke_ts", "9"), ("complete_ts", "3")]) + &row(&[("process_id", "1")]);
    let history = read_text(&rows);
    let rules: Vec<Rule> =
        validate(&history, &ValidateOptions::default()).iter().map(|f| f.rule).collect();
    assert!(rules.contains(&Rule::V1) && rules.contains(&Rule::V4), "{rules:?}");
}

#[test]
fn an_input_that_breaks_names_the_last_whole_line() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is gone"))
        }
    }
    for format in formats() {
        let text = operations(format, 20_000) + "half a li";
        let lines = text.matches('\n').count() as u64;
        let error = read(text.as_bytes().chain(Broken), &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().contains("the disk is gone"), "{error}");
        assert_eq!(error.line(), Some(lines), "{format:?}");
    }
}

#[test]
fn progress_counts_the_uncompressed_bytes() {
    let text = operations(Format::Jsonl, 10_000);
    let progress = AtomicU64::new(0);
    let options = ReadOptions { progress: Some(&progress), ..ReadOptions::default() };
    read(&zstd::encode_all(text.as_bytes(), 1).unwrap()[..], &options).unwrap();
    assert_eq!(progress.load(Ordering::Relaxed), text.len() as u64);
}
