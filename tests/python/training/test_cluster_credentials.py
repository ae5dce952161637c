"""Certificates and tokens between the tasks of a cluster and their clients."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
import rheos
import rheos.v1 as tf
from ports import free_port

COMMAND = Path(rheos.__file__).resolve().parents[2] / "bin" / "rheos"
pytestmark = [
    pytest.mark.usefixtures("grpc"),
    pytest.mark.skipif(not COMMAND.exists(), reason="the command was not built"),
]
MOST_S = 30  # that a client may take; it starts an interpreter


# ---- Certificates


def _openssl(folder, *arguments):
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def _key(folder, name):
    _openssl(folder, "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-out", f"{name}.key")  # fmt: skip


def _authority(folder, name):
    _key(folder, name)
    _openssl(folder, "req", "-x509", "-new", "-key", f"{name}.key", "-subj", f"/CN={name}",
             "-days", "2", "-out", f"{name}.pem")  # fmt: skip


def _certificate(folder, name, names, authority="ca", days=2):
    _key(folder, name)
    _openssl(folder, "req", "-new", "-key", f"{name}.key", "-subj", f"/CN={name}",
             "-out", f"{name}.csr")  # fmt: skip
    (folder / f"{name}.ext").write_text(f"subjectAltName={names}")
    _openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem",
             "-CAkey", f"{authority}.key", "-set_serial", "1", "-extfile", f"{name}.ext",
             "-days", str(days), "-out", f"{name}.pem")  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with keys and certificates: of this machine, of another one, of another CA, late."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, which makes the certificates")
    folder = tmp_path_factory.mktemp("credentials")
    here = "DNS:localhost,IP:127.0.0.1"
    _authority(folder, "ca")
    _authority(folder, "stranger")
    _certificate(folder, "here", here)
    _certificate(folder, "elsewhere", "DNS:elsewhere.example")
    _certificate(folder, "strange", here, authority="stranger")
    _certificate(folder, "late", here, days=0)
    time.sleep(1.1)  # it counts in seconds
    (folder / "token").write_text("opensesame\n")
    (folder / "wrong").write_text("opensesamf\n")
    return folder


def _environment(files, ca=None, cert=None, token=None):
    names = {
        "RHEOS_TLS_CA": ca and f"{ca}.pem",
        "RHEOS_TLS_CERT": cert and f"{cert}.pem",
        "RHEOS_TLS_KEY": cert and f"{cert}.key",
        "RHEOS_TOKEN_FILE": token,
    }
    return {variable: str(files / name) for variable, name in names.items() if name}


# ---- Servers and clients, processes of their own


@pytest.fixture
def serve(files, tmp_path):
    """serve(**credentials), serve(job=..., cluster=...): the address of a server that is ready."""
    servers = []

    def start(*options, job="worker", cluster=None, **credentials):
        cluster = cluster or {job: [f"localhost:{free_port()}"]}
        path = tmp_path / "cluster.json"
        path.write_text(json.dumps(cluster))
        server = subprocess.Popen(
            [COMMAND, "serve", "--cluster", path, "--job", job, *options],
            env={**os.environ, **_environment(files, **credentials)},
            stdout=subprocess.PIPE,
            text=True,
        )
        servers.append(server)
        assert server.stdout.readline().startswith("ready grpc://")
        return "grpc://" + cluster[job][0]

    yield start
    for server in servers:
        server.terminate()
        server.stdout.close()
        assert server.wait(MOST_S) == 0


_CLIENT = textwrap.dedent(
    """
    import sys
    import rheos.v1 as tf
    with tf.device(sys.argv[2] or None):
        x = tf.constant(3) + 1
    try:
        with tf.Session(sys.argv[1]) as sess:
            print(sess.run(x))
    except tf.errors.OpError as error:
        print(type(error).__name__, error.message)
    """
)


def _said(files, target, device="", **credentials):
    """What a client with these credentials prints: 4, or its error."""
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", _CLIENT, target, device],
        env={**os.environ, **_environment(files, **credentials)},
        capture_output=True,
        text=True,
        timeout=MOST_S,
    )
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - begin < MOST_S / 2
    return done.stdout.strip()


# ---- TLS


def test_a_client_that_knows_the_ca_is_served(files, serve):
    target = serve(cert="here")
    assert _said(files, target, ca="ca") == "4"
    assert _said(files, target.replace("localhost", "127.0.0.1"), ca="ca") == "4"


def test_a_client_without_tls_is_told_of_it(files, serve):
    said = _said(files, serve(cert="here"))
    assert said.startswith("UnavailableError") and "it may want TLS" in said


def test_a_server_without_tls_is_told_of(files, serve):
    said = _said(files, serve(), ca="ca")
    assert said.startswith("UnauthenticatedError") and "does not speak TLS" in said


@pytest.mark.parametrize(
    ("certificate", "fact"),
    [
        ("late", "has expired"),
        ("strange", "the CA (tls_ca) has not signed it"),
        ("elsewhere", "not for the name it is called by .*Peer name localhost"),
    ],
)
def test_a_certificate_that_is_wrong_is_not_accepted(files, serve, certificate, fact):
    said = _said(files, serve(cert=certificate), ca="ca")
    assert said.startswith("UnauthenticatedError the server at ")
    assert all(part in said for part in fact.split(".*"))


def test_mutual_tls_wants_a_certificate_of_the_client(files, serve):
    target = serve(ca="ca", cert="here")
    assert _said(files, target, ca="ca", cert="here") == "4"
    said = _said(files, target, ca="ca")
    assert said.startswith("U") and "it may want a certificate" in said
    for wrong in ("late", "strange"):
        said = _said(files, target, ca="ca", cert=wrong)
        assert said.startswith("U") and "not accept the certificate shown" in said


def test_clients_may_be_let_off_certificates(files, serve):
    target = serve("--no-client-certs", ca="ca", cert="here", token="token")
    assert _said(files, target, ca="ca", token="token") == "4"
    assert _said(files, target, ca="ca").startswith("UnauthenticatedError")


def test_a_certificate_without_its_key_is_an_error(files, tmp_path):
    cluster = tmp_path / "cluster.json"
    cluster.write_text('{"worker": ["localhost:0"]}')
    for key, fact in ((None, "private key"), ("late", "do not belong together")):
        options = ["--tls-cert", files / "here.pem"]
        options += ["--tls-key", files / f"{key}.key"] if key else []
        done = subprocess.run(
            [COMMAND, "serve", "--cluster", cluster, "--job", "worker", *options],
            capture_output=True,
            text=True,
            timeout=MOST_S,
        )
        assert done.returncode == 1 and fact in done.stderr


# ---- Tokens


def test_a_token_is_asked_for(files, serve):
    target = serve(token="token")
    assert _said(files, target, token="token") == "4"
    for wrong in ({}, {"token": "wrong"}):
        said = _said(files, target, **wrong)
        assert said.startswith("UnauthenticatedError the server at ") and "access token" in said


def test_a_token_does_not_go_where_others_may_read_it(files):
    said = _said(files, "grpc://192.0.2.1:2222", token="token")
    assert said.startswith("UnauthenticatedError") and "not sent there without TLS" in said
    assert "opensesame" not in said


# ---- Tasks among themselves


def test_tasks_call_each_other_with_their_credentials(files, serve):
    cluster = {job: [f"localhost:{free_port()}"] for job in ("worker", "ps")}
    credentials = {"ca": "ca", "cert": "here", "token": "token"}
    serve(job="ps", cluster=cluster, **credentials)
    target = serve(job="worker", cluster=cluster, **credentials)
    assert _said(files, target, "/job:ps", **credentials) == "4"


def test_a_task_that_another_does_not_accept_is_named(files, serve):
    cluster = {job: [f"localhost:{free_port()}"] for job in ("worker", "ps")}
    serve(job="ps", cluster=cluster, cert="strange")
    target = serve("--no-client-certs", job="worker", cluster=cluster, ca="ca", cert="here")
    said = _said(files, target, "/job:ps", ca="ca")
    assert said.startswith("UnauthenticatedError")
    assert "/job:ps/replica:0/task:0 at localhost:" in said and "is not accepted" in said


# ---- Programs that know nothing of it


def test_servers_of_programs_take_credentials_from_the_environment(files, monkeypatch):
    for variable, value in _environment(files, ca="ca", cert="here", token="token").items():
        monkeypatch.setenv(variable, value)
    server = tf.train.Server.create_local_server()
    with tf.Session(server.target) as sess:
        assert sess.run(tf.constant(3) + 1) == 4
    tf.Session.reset(server.target)
    monkeypatch.delenv("RHEOS_TOKEN_FILE")
    with tf.Session(server.target) as sess:
        with pytest.raises(tf.errors.UnauthenticatedError, match="access token"):
            sess.run(tf.constant(3))


# ---- What the command refuses


def test_a_server_for_others_wants_to_know_who_calls(files, tmp_path):
    cluster = tmp_path / "cluster.json"
    cluster.write_text('{"worker": ["localhost:0"]}')
    tls = ["--tls-cert", files / "here.pem", "--tls-key", files / "here.key"]
    for options in ([], tls, ["--token-file", files / "token"]):
        done = subprocess.run(
            [COMMAND, "serve", "--cluster", cluster, "--job", "worker", "--bind", "0.0.0.0",
             *options],
            capture_output=True, text=True, timeout=MOST_S,
        )  # fmt: skip
        assert done.returncode == 2 and "--insecure" in done.stderr
