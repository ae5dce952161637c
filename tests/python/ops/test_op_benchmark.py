import pytest
import rheos.v1 as tf
from rheos.framework import messages
from rheos.training.op_benchmark import run_benchmarks

ran = []


class Adding(tf.test.Benchmark):
    def benchmark_sum(self):
        ran.append("sum")
        x = tf.placeholder(tf.float32)
        with tf.Session() as session:
            values = self.run_op_benchmark(
                session, x + 1.0, {x: 2.0}, min_iters=4, extras={"rows": 3, "kind": "x"}, mbs=5
            )
        assert values["iters"] == 4 and values["throughput"] == 5 / values["wall_time"]
        assert values["extras"]["wall_time_mean"] > 0 <= values["extras"]["wall_time_stdev"]

    def benchmark_report(self):
        ran.append("report")
        metrics = [{"name": "m", "value": 2.0, "max_value": 3.0}]
        self.report_benchmark(wall_time=0.5, name="mine", metrics=metrics)


def test_an_entry_is_printed_or_written_once(tmp_path, monkeypatch, capsys):
    run_benchmarks("Adding.benchmark_sum")
    entry = messages.from_text(capsys.readouterr().out, messages.BenchmarkEntries()).entry[0]
    assert entry.name == "Adding.benchmark_sum" and entry.iters == 4 and entry.wall_time > 0
    assert entry.extras["rows"].double_value == 3 and entry.extras["kind"].string_value == "x"
    monkeypatch.setenv("TEST_REPORT_FILE_PREFIX", str(tmp_path / "of-"))
    run_benchmarks("Adding.*report")
    written = (tmp_path / "of-Adding.mine").read_bytes()
    (entry,) = messages.BenchmarkEntries.FromString(written).entry
    assert entry.metrics[0].max_value.value == 3.0 and not entry.metrics[0].HasField("min_value")
    with pytest.raises(FileExistsError):
        run_benchmarks("Adding.*report")


def test_main_calls_what_the_pattern_chooses(capsys):
    ran.clear()
    tf.test.main(["program", "--benchmarks=Adding"])
    assert ran == ["report", "sum"] and not Adding.is_abstract() and tf.test.Benchmark.is_abstract()
