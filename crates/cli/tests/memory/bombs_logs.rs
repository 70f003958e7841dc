//! Logs that are made to take much.

use std::io::Write;

use crate::bombs::{Bomb, number, packed, repeat};

const TWO: &[&str] = &[
    "ingest",
    "bomb.gz",
    "--framework",
    "f",
    "--test",
    "t",
    "--workers",
    "2",
    "--max-rejects",
    "1000000000",
];
const SIXTEEN: &[&str] = &[
    "ingest",
    "bomb.gz",
    "--framework",
    "f",
    "--test",
    "t",
    "--workers",
    "16",
    "--max-rejects",
    "1000000000",
];

/// A bomb that becomes a run, or holds none.
const fn bomb(name: &'static str, write: fn(&std::path::Path)) -> Bomb {
    Bomb { name, write, command: TWO, codes: &[0, 3] }
}

const MB: usize = 1 << 20;

/// The begin of JMeter's XML log, with a sound sample.
const XML: &str = "<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">\n<sample t=\"1\" ts=\"1795001000000\" s=\"true\" lb=\"a\"/>\n";

const GATLING_TEXT: &str = "RUN\tSim\tsim\t1795348622935\tdescription\t3.9.5\n";

const HLOG: &str = "#[Histogram log format version 1.3]\n#[StartTime: 1795348000.000 (seconds since epoch)]\n\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";

pub(crate) const BOMBS: &[Bomb] = &[
    bomb("XML: samples within one that never ends", |folder| {
        packed(folder, "bomb.gz", |out| {
            write!(out, "{XML}<sample t=\"1\" ts=\"1795001000000\" s=\"true\">").unwrap();
            repeat(out, "<sample/>", 60 * MB);
        });
    }),
    bomb("XML: samples within each other", |folder| {
        packed(folder, "bomb.gz", |out| {
            out.write_all(XML.as_bytes()).unwrap();
            repeat(out, "<sample t=\"1\">", 60 * MB);
        });
    }),
    bomb("XML: an attribute without end", |folder| {
        packed(folder, "bomb.gz", |out| {
            write!(out, "{XML}<sample lb=\"").unwrap();
            repeat(out, "a", 200 * MB);
        });
    }),
    bomb("XML: samples of 15 MB", |folder| {
        packed(folder, "bomb.gz", |out| {
            out.write_all(XML.as_bytes()).unwrap();
            for _ in 0..12 {
                write!(out, "<sample t=\"1\" ts=\"1795001000000\" s=\"maybe\" lb=\"").unwrap();
                repeat(out, "&quot;", 15 * MB);
                writeln!(out, "\"/>").unwrap();
            }
        });
    }),
    bomb("Gatling's binary log: groups of long names", |folder| {
        packed(folder, "bomb.gz", |out| {
            gatling_run(out);
            out.write_all(&[1]).unwrap();
            int(out, 100_000);
            name(out, 1, 1_000_000);
            (1..100_000).for_each(|_| int(out, -1));
            name(out, 2, 1);
            request_end(out, true);
        });
    }),
    bomb("Gatling's binary log: requests of long names", |folder| {
        packed(folder, "bomb.gz", |out| {
            gatling_run(out);
            out.write_all(&[1]).unwrap();
            int(out, 0);
            name(out, 1, 1_900_000);
            request_end(out, true);
            for _ in 0..500_000 {
                out.write_all(&[1]).unwrap();
                int(out, 0);
                int(out, -1);
                request_end(out, false);
            }
        });
    }),
    bomb("Gatling's binary log: errors that all differ", |folder| {
        packed(folder, "bomb.gz", |out| {
            gatling_run(out);
            for number in 1..8_000_000 {
                out.write_all(&[4]).unwrap();
                name(out, number, 0);
                int(out, 7);
            }
        });
    }),
    bomb("Gatling's text log: requests of 2 MB that all differ", |folder| {
        packed(folder, "bomb.gz", |out| {
            out.write_all(GATLING_TEXT.as_bytes()).unwrap();
            for number in 0..100 {
                write!(out, "REQUEST\t").unwrap();
                repeat(out, "shop,", 2 * MB);
                writeln!(out, "\t{number}\t1795348425532\t1795348425847\tOK\t").unwrap();
            }
        });
    }),
    bomb("Gatling's text log: lines of tabs", |folder| {
        packed(folder, "bomb.gz", |out| {
            out.write_all(GATLING_TEXT.as_bytes()).unwrap();
            for _ in 0..30 {
                repeat(out, "\t", 3 * MB);
                writeln!(out).unwrap();
            }
        });
    }),
    bomb("vegeta's CSV: attacks that all differ", |folder| {
        packed(folder, "bomb.gz", |out| {
            number(out, 0..1_500_000, |n| {
                format!(
                    "{},200,6604590,0,12,,,attack number {n},{n},GET,http://a/,\n",
                    1_795_348_034_787_926_537 + n * 1000
                )
            });
        });
    }),
    bomb("vegeta's JSON: many attacks with many requests in flight", |folder| {
        packed(folder, "bomb.gz", |out| {
            number(out, 0..1_500_000, |n| {
                let attack = n % 5000;
                format!(
                    "{{\"attack\":\"{attack}\",\"seq\":{n},\"code\":200,\"timestamp\":\"2026-11-22T11:47:14.787926537Z\",\"latency\":{},\"bytes_out\":0,\"bytes_in\":12,\"error\":\"\"}}\n",
                    9_000_000_000 + n
                )
            });
        });
    }),
    bomb("k6's CSV: a quote that is never closed", |folder| {
        packed(folder, "bomb.gz", |out| {
            write!(out, "metric_name,timestamp,metric_value,error\nhttp_reqs,1795348034,1,\"").unwrap();
            repeat(out, "x\n", 20 * MB);
        });
    }),
    bomb("k6's CSV: lines of commas", |folder| {
        packed(folder, "bomb.gz", |out| {
            writeln!(out, "metric_name,timestamp,metric_value,error").unwrap();
            for _ in 0..30 {
                repeat(out, ",", 3 * MB);
                writeln!(out).unwrap();
            }
        });
    }),
    bomb("k6's JSON: deep and long values that nobody wants", |folder| {
        packed(folder, "bomb.gz", |out| {
            for _ in 0..30 {
                write!(out, "{{\"metric\":\"http_reqs\",\"type\":\"Point\",\"data\":{{\"time\":\"2026-11-22T11:47:14Z\",\"value\":1,\"tags\":{{\"x\":[").unwrap();
                repeat(out, "[],", 3 * MB);
                writeln!(out, "0]}}}}}}").unwrap();
            }
        });
    }),
    bomb("AIPerf's records: long lists that nobody wants", |folder| {
        packed(folder, "bomb.gz", |out| {
            for _ in 0..30 {
                write!(out, "{{\"metadata\":{{\"request_start_ns\":1795348034787926537,\"request_end_ns\":1795348034797926537,\"benchmark_phase\":\"profiling\"}},\"metrics\":{{\"inter_chunk_latency\":{{\"value\":[").unwrap();
                repeat(out, "1.5,", 3 * MB);
                writeln!(out, "0],\"unit\":\"ms\"}}}}}}").unwrap();
            }
        });
    }),
    bomb("h2load's log: lines of one byte", |folder| {
        packed(folder, "bomb.gz", |out| {
            writeln!(out, "1795347889514196\t200\t8154").unwrap();
            repeat(out, "x\n", 60 * MB);
        });
    }),
    bomb("h2load's log: statuses that all differ", |folder| {
        packed(folder, "bomb.gz", |out| {
            number(out, 0..2_000_000, |n| format!("{}\ts{n}\t8154\n", 1_795_347_889_514_196 + n));
        });
    }),
    bomb("hey's CSV: an endless line", |folder| {
        packed(folder, "bomb.gz", |out| {
            writeln!(
                out,
                "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset"
            )
            .unwrap();
            writeln!(out, "0.1,0,0,0,0,0,200,0.1").unwrap();
            repeat(out, "1,", 200 * MB);
        });
    }),
    bomb("oha's CSV: statuses of many digits", |folder| {
        packed(folder, "bomb.gz", |out| {
            writeln!(out, "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status")
                .unwrap();
            number(out, 0..2_000_000, |n| format!("0.{n},0,0,0,0.1,5,{n}\n"));
        });
    }),
    bomb("hlog: tags with all values of a histogram", |folder| {
        packed(folder, "bomb.gz", |out| {
            out.write_all(HLOG.as_bytes()).unwrap();
            let histogram = histogram(99_000, 1);
            number(out, 0..400, |n| format!("Tag=t{n},0.000,1.000,0.099,{histogram}\n"));
        });
    }),
    bomb("hlog: long tags", |folder| {
        packed(folder, "bomb.gz", |out| {
            out.write_all(HLOG.as_bytes()).unwrap();
            let histogram = histogram(1, 99);
            for number in 0..100 {
                write!(out, "Tag={number}").unwrap();
                repeat(out, "t", 3 * MB);
                writeln!(out, ",0.000,1.000,0.099,{histogram}").unwrap();
            }
        });
    }),
    bomb("hlog: histograms of one value far from the first", |folder| {
        packed(folder, "bomb.gz", |out| {
            out.write_all(HLOG.as_bytes()).unwrap();
            let histogram = histogram(1, 99_000);
            number(out, 0..20_000, |n| format!("{n}.000,1.000,0.099,{histogram}\n"));
        });
    }),
    bomb("JMeter's CSV: lines of commas", |folder| {
        packed(folder, "bomb.gz", commas);
    }),
    Bomb {
        command: SIXTEEN,
        ..bomb("JMeter's CSV: lines of commas, 16 workers", |folder| packed(folder, "bomb.gz", commas))
    },
    Bomb {
        command: SIXTEEN,
        ..bomb("JMeter's CSV: a header of many columns, 16 workers", |folder| {
            packed(folder, "bomb.gz", |out| {
                write!(out, "timeStamp,elapsed,success").unwrap();
                repeat(out, ",", 3 * MB);
                for _ in 0..30 {
                    write!(out, "\n1795347889514,1,true").unwrap();
                    repeat(out, ",", 3 * MB);
                }
            });
        })
    },
    Bomb {
        command: SIXTEEN,
        ..bomb("JMeter's CSV: headers of many other columns, 16 workers", |folder| {
            packed(folder, "bomb.gz", |out| {
                write!(out, "timeStamp,elapsed,success\n1795347889514,1,true").unwrap();
                for _ in 0..30 {
                    write!(out, "\ntimeStamp,elapsed,success").unwrap();
                    repeat(out, ",", 3 * MB);
                }
            });
        })
    },
    Bomb {
        command: SIXTEEN,
        ..bomb("JMeter's CSV: rejects with values, 16 workers", |folder| {
            packed(folder, "bomb.gz", |out| {
                writeln!(out, "timeStamp,elapsed,success\n1795347889514,1,true").unwrap();
                repeat(out, "1,x,\n", 60 * MB);
            });
        })
    },
    Bomb {
        command: SIXTEEN,
        ..bomb("JMeter's CSV: quotes that are never closed, 16 workers", |folder| {
            packed(folder, "bomb.gz", |out| {
                writeln!(out, "timeStamp,elapsed,label,success\n1795347889514,1,a,true").unwrap();
                repeat(out, "\"a\"a,\"\n", 16 * MB);
            });
        })
    },
];

fn commas(out: &mut dyn Write) {
    writeln!(out, "timeStamp,elapsed,label,success\n1795347889514,1,a,true").unwrap();
    for _ in 0..60 {
        repeat(out, ",", 3 * MB + MB / 2);
        writeln!(out).unwrap();
    }
}

fn int(out: &mut dyn Write, number: i32) {
    out.write_all(&number.to_be_bytes()).unwrap();
}

/// A new name of so many bytes.
fn name(out: &mut dyn Write, number: i32, length: usize) {
    int(out, number);
    text(out, &"n".repeat(length));
}

fn text(out: &mut dyn Write, text: &str) {
    int(out, text.len() as i32);
    if !text.is_empty() {
        out.write_all(text.as_bytes()).unwrap();
        out.write_all(&[0]).unwrap();
    }
}

fn gatling_run(out: &mut dyn Write) {
    out.write_all(&[0]).unwrap();
    text(out, "3.13.5");
    text(out, "Sim");
    out.write_all(&1_795_348_622_935_i64.to_be_bytes()).unwrap();
    text(out, "");
    int(out, 0);
    int(out, 0);
}

/// The number of the empty message.
const NO_MESSAGE: i32 = 1000;

/// What follows a request's name: times, verdict, and no message, whose number is defined the first time.
fn request_end(out: &mut dyn Write, is_first: bool) {
    int(out, 5);
    int(out, 9);
    out.write_all(&[1]).unwrap();
    if is_first { name(out, NO_MESSAGE, 0) } else { int(out, -NO_MESSAGE) }
}

/// A histogram in base64, of so many values, each once, behind so many that none has.
fn histogram(values: usize, behind: usize) -> String {
    let mut counts = Vec::new();
    varint(&mut counts, (behind as u64) * 2 - 1);
    (0..values).for_each(|_| varint(&mut counts, 2));
    let mut plain = vec![0x1c, 0x84, 0x93, 0x13];
    plain.extend((counts.len() as u32).to_be_bytes());
    plain.extend(0_u32.to_be_bytes());
    plain.extend(5_u32.to_be_bytes());
    plain.extend(1_u64.to_be_bytes());
    plain.extend(3_600_000_u64.to_be_bytes());
    plain.extend(1_f64.to_be_bytes());
    plain.extend(counts);
    let mut packed = vec![0x1c, 0x84, 0x93, 0x14];
    let mut pack = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    pack.write_all(&plain).unwrap();
    let pack = pack.finish().unwrap();
    packed.extend((pack.len() as u32).to_be_bytes());
    packed.extend(pack);
    base64(&packed)
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = bytes.chunks(3).flat_map(|three| {
        let number = three
            .iter()
            .chain([0, 0].iter())
            .take(3)
            .fold(0, |number, byte| number << 8 | usize::from(*byte));
        let digit =
            move |at: usize| if at <= three.len() { DIGITS[number >> (18 - 6 * at) & 63] } else { b'=' };
        (0..4).map(move |at| char::from(digit(at)))
    });
    digits.collect()
}

fn varint(into: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}
