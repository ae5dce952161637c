"""Servers of a cluster as processes of their own, with cables between them that can be cut."""

import json
import subprocess
from pathlib import Path

from links import Link
from ports import free_port

HERE = Path(__file__).resolve().parent


class Task:
    """One server, with links to the others of its own."""

    def __init__(self, job, number):
        self.job, self.number = job, number
        self.name = f"/job:{job}/replica:0/task:{number}"
        self.port = free_port()
        self.links = {}
        self.process = None

    def write_cluster(self, folder, tasks):
        for other in tasks:
            if other is not self:
                self.links[other] = Link(other.port)
        cluster = {}
        for other in tasks:
            port = self.port if other is self else self.links[other].port
            cluster.setdefault(other.job, []).append(f"localhost:{port}")
        self.file = Path(folder) / f"{self.job}{self.number}.json"
        self.file.write_text(json.dumps(cluster))

    def start(self, build, tensorflow=None):
        if tensorflow:
            command = [tensorflow, HERE / "server.py", self.file, self.job, str(self.number)]
        else:
            command = [build / "bin/rheos", "serve", "--cluster", self.file, "--job", self.job,
                       "--task", str(self.number), "--threads", "2"]  # fmt: skip
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def wait_until_ready(self):
        while not (line := self.process.stdout.readline()).startswith("ready"):
            if not line:
                raise RuntimeError(f"{self.name} did not start")

    def end(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
        for link in self.links.values():
            link.close()


def start_tasks(tasks, folder, build, tensorflow=None):
    """All of a cluster, in the order of their numbers within a job; returns when they are ready."""
    for task in tasks:
        task.write_cluster(folder, tasks)
        task.start(build, tensorflow)
    for task in tasks:
        task.wait_until_ready()
