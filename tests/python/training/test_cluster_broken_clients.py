"""Clients that are broken, or mean harm: a server lives, serves others meanwhile, keeps nothing.

Each kind is a function that writes to a connection. What HTTP/2 calls frames is written by hand.
"""

import contextlib
import os
import random
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest
import rheos
import rheos.v1 as tf

COMMAND = Path(rheos.__file__).resolve().parents[2] / "bin" / "rheos"
pytestmark = [
    pytest.mark.usefixtures("grpc"),
    pytest.mark.skipif(not COMMAND.exists(), reason="the command was not built"),
]
AT_A_TIME = 8  # clients of a kind
PROPER_S = 1.0  # how long a proper client may wait meanwhile
MEMORY = 64 << 20  # that may be kept for later
BACK_S = 30  # until what they took is given back
MAX_MESSAGE = 1 << 20

# ---- HTTP/2

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS = range(5)
PUSH_PROMISE, PING, GOAWAY, WINDOW, CONTINUATION = range(5, 10)
END_STREAM, END_HEADERS = 1, 4
STATUS = "/tensorflow.WorkerService/GetStatus"
CREATE = "/tensorflow.MasterService/CreateSession"


def frame(kind, flags=0, stream=0, payload=b"", length=None):
    length = len(payload) if length is None else length
    return struct.pack(">I", length)[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(name, value):
    """A header as HPACK writes one that it does not index; up to 126 bytes each."""
    name, value = name.encode(), value.encode()
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def fields(path=STATUS, content_type="application/grpc", method="POST", **more):
    given = {":method": method, ":scheme": "http", ":path": path, ":authority": "localhost"}
    given |= {"te": "trailers"} | ({"content-type": content_type} if content_type else {})
    given |= {name.replace("_", "-"): value for name, value in more.items()}
    return b"".join(literal(name, value) for name, value in given.items())


def headers(stream=1, flags=END_HEADERS, **named):
    return frame(HEADERS, flags, stream, fields(**named))


def message(body=b"", flag=0, length=None):
    return struct.pack(">BI", flag, len(body) if length is None else length) + body


def data(body, stream=1, flags=END_STREAM):
    return frame(DATA, flags, stream, body)


def setting(number, value):
    return frame(SETTINGS, 0, 0, struct.pack(">HI", number, value))


BEGIN = PREFACE + frame(SETTINGS)
PROPER = BEGIN + headers() + data(message())

# ---- Kinds

KINDS = {}


def kind(function):
    KINDS[function.__name__] = function
    return function


def sends(name, *parts):
    """A kind that writes bytes at once, and waits for the end of the test."""
    KINDS[name] = lambda connection: connection.sendall(b"".join(parts))


sends("nothing")
sends("half_a_preface", PREFACE[:11])
sends("http_1", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
sends("garbage", random.Random(1).randbytes(1 << 16))
sends("a_tls_hello", bytes.fromhex("16030100c8010000c40303") + bytes(194))
sends("no_settings", PREFACE, headers(), data(message()))
sends("data_first", PREFACE, data(message()))
sends("a_frame_that_is_too_long", BEGIN, frame(DATA, 0, 1, b"x", length=(1 << 24) - 1))
sends("unknown_frames", BEGIN, *[frame(200 + i % 50, 255, i, b"what") for i in range(500)])
sends("headers_of_no_stream", BEGIN, headers(stream=0))
sends("data_of_no_stream", BEGIN, data(message(), stream=7))
sends("an_even_stream", BEGIN, headers(stream=2), data(message(), stream=2))
sends("streams_that_go_back", BEGIN, headers(stream=9), headers(stream=3))
sends("bad_hpack", BEGIN, frame(HEADERS, END_HEADERS, 1, b"\xff\xff\xff\xff\xff\xff\xff\x0f"))
sends("an_index_of_nothing", BEGIN, frame(HEADERS, END_HEADERS, 1, b"\xfe"))
sends("a_huge_table_of_headers", BEGIN,
      frame(HEADERS, END_HEADERS, 1, b"\x3f\xe1\xff\xff\xff\x07"))  # fmt: skip
sends("headers_without_end", BEGIN, headers(flags=0), *[frame(PING, 0, 0, bytes(8))] * 3)
sends("empty_data", BEGIN, headers(), *[data(b"", flags=0)] * 20000)
sends("settings_flood", BEGIN, setting(4, 65535) * 20000)
sends("ping_flood", BEGIN, *[frame(PING, 0, 0, bytes(8))] * 20000)
sends("a_window_of_nothing", PREFACE, setting(4, 0), headers(), data(message()))
sends("a_window_that_overflows", BEGIN, headers(),
      *[frame(WINDOW, 0, 1, struct.pack(">I", (1 << 31) - 1))] * 2)  # fmt: skip
sends("a_window_that_grows_by_nothing", BEGIN, headers(), frame(WINDOW, 0, 1, bytes(4)))
sends("a_wrong_content_type", BEGIN, headers(content_type="text/html"), data(message()))
sends("no_content_type", BEGIN, headers(content_type=None), data(message()))
sends("a_get", BEGIN, headers(method="GET"), data(message()))
sends("an_unknown_method", BEGIN, headers(path="/tensorflow.MasterService/No"), data(message()))
sends("no_path", BEGIN, headers(path=""), data(message()))
sends("a_truncated_message", BEGIN, headers(path=CREATE), data(message(b"\x0a\xff\x01abc")))
sends("a_message_of_garbage", BEGIN, headers(path=CREATE),
      data(message(random.Random(2).randbytes(5000))))  # fmt: skip
sends("a_length_that_is_too_long", BEGIN, headers(path=CREATE), data(message(b"abc", length=100)))
sends("a_length_that_is_too_short", BEGIN, headers(path=CREATE), data(message(b"abc", length=1)))
sends("a_length_of_gigabytes", BEGIN, headers(path=CREATE),
      data(message(b"abc", length=(1 << 32) - 1), flags=0))  # fmt: skip
sends("bad_compression", BEGIN, headers(path=CREATE, grpc_encoding="gzip"),
      data(message(b"not gzip", flag=1)))  # fmt: skip
sends("compression_of_no_kind", BEGIN, headers(path=CREATE), data(message(b"abc", flag=1)))
sends("a_flag_that_is_none", BEGIN, headers(path=CREATE), data(message(b"abc", flag=77)))
sends("a_timeout_that_is_none", BEGIN, headers(grpc_timeout="soon"), data(message()))
sends("no_time_at_all", BEGIN, headers(grpc_timeout="1n"), data(message()))
sends("two_messages", BEGIN, headers(), data(message() * 2))
sends("headers_twice", BEGIN, headers(), headers(), data(message()))
sends("a_promise", BEGIN, frame(PUSH_PROMISE, END_HEADERS, 1, bytes(4) + fields()))
sends("a_goodbye_first", BEGIN, frame(GOAWAY, 0, 0, bytes(8)), headers(), data(message()))
sends("a_stream_that_depends_on_itself", BEGIN, headers(),
      frame(PRIORITY, 0, 1, struct.pack(">IB", 1, 16)))  # fmt: skip


@kind
def closes_at_once(connection):
    connection.close()


@kind
def huge_headers(connection):
    piece = literal("x-filler", "y" * 120) * 100
    connection.sendall(BEGIN + headers(flags=0))
    for _ in range(100):
        connection.sendall(frame(CONTINUATION, 0, 1, piece))


@kind
def rapid_resets(connection):
    connection.sendall(BEGIN)
    for stream in range(1, 4001, 2):
        connection.sendall(headers(stream) + frame(RST_STREAM, 0, stream, struct.pack(">I", 8)))


@kind
def thousands_of_streams(connection):
    connection.sendall(BEGIN + b"".join(headers(stream) for stream in range(1, 6001, 2)))


@kind
def a_message_over_the_limit(connection):
    connection.sendall(BEGIN + headers(path=CREATE))
    body = message(bytes(4 * MAX_MESSAGE))
    for at in range(0, len(body), 16384):
        connection.sendall(data(body[at : at + 16384], flags=0))


@kind
def a_byte_now_and_then(connection):
    for at in range(40):
        connection.sendall(PROPER[at : at + 1])
        time.sleep(0.01)


# ---- The server


class Usage:
    """What a process has of the machine."""

    def __init__(self, process):
        folder = Path("/proc") / str(process.pid)
        self.threads = len(os.listdir(folder / "task"))
        self.files = len(os.listdir(folder / "fd"))
        pages = int((folder / "statm").read_text().split()[1])
        self.bytes = pages * os.sysconf("SC_PAGESIZE")

    def is_back_at(self, before):
        """But for some threads that wait for the next call, and memory that is kept for it."""
        return (
            self.threads <= before.threads + 8
            and self.files <= before.files + 2
            and self.bytes < before.bytes + MEMORY
        )


class Served:
    def __init__(self, folder):
        (folder / "cluster.json").write_text('{"worker": ["localhost:0"]}')
        self.process = subprocess.Popen(
            [COMMAND, "serve", "--cluster", folder / "cluster.json", "--job", "worker",
             "--threads", "2", "--max-message-bytes", str(MAX_MESSAGE)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.target = self.process.stdout.readline().split()[1]
        self.address = ("127.0.0.1", int(self.target.rpartition(":")[2]))
        for _ in range(3):  # what is kept for later calls is there now
            self.serve_properly()
        self.before = Usage(self.process)

    def connect(self):
        connection = socket.create_connection(self.address, timeout=5)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def serve_properly(self):
        with tf.Graph().as_default():
            x = tf.constant(3) + 1
            begin = time.monotonic()
            with tf.Session(self.target) as sess:
                assert sess.run(x) == 4
        return time.monotonic() - begin

    def expect_prompt(self):
        """A machine that is busy with other things gets a second and a third chance."""
        assert any(self.serve_properly() < PROPER_S for _ in range(3))

    def expect_back(self):
        end = time.monotonic() + BACK_S
        while not (now := Usage(self.process)).is_back_at(self.before):
            assert time.monotonic() < end, (vars(now), vars(self.before))
            time.sleep(0.05)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    server = Served(tmp_path_factory.mktemp("broken"))
    yield server
    server.process.terminate()
    server.process.stdout.close()
    assert server.process.wait(30) == 0


@contextlib.contextmanager
def _several(server):
    connections = [server.connect() for _ in range(AT_A_TIME)]
    yield connections
    for connection in connections:
        connection.close()


def _reach(server, write):
    """Several such clients at a time, which stay; a proper one beside them, and afterwards."""
    with _several(server) as connections:
        for connection in connections:
            with contextlib.suppress(OSError):  # the server may close it
                write(connection)
        server.expect_prompt()
    server.expect_prompt()
    server.expect_back()
    assert server.process.poll() is None


@pytest.mark.parametrize("name", KINDS)
def test_a_broken_client_harms_nobody(served, name):
    _reach(served, KINDS[name])


@pytest.mark.parametrize("part", range(12))
def test_a_client_may_go_at_any_point(served, part):
    def write(connection):
        connection.sendall(PROPER[: len(PROPER) * part // 11])
        connection.close()

    _reach(served, write)


def test_what_is_written_here_is_a_proper_call(served):
    with served.connect() as connection:
        connection.sendall(PROPER)
        got = b""
        while b"grpc-status" not in got:
            part = connection.recv(65536)
            assert part, got
            got += part
    assert b"/job:worker/replica:0/task:0/device:CPU:0" in got


def test_there_are_enough_kinds():
    assert len(KINDS) >= 30
