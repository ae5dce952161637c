"""Connections that can be cut: what a task of a cluster sends another one goes through a Link."""

import socket
import threading

CHUNK = 1 << 16


class Link:
    """A port of this machine whose connections go on to another port, as long as it is whole."""

    def __init__(self, to_port):
        self.to_port = to_port
        self.whole = threading.Event()
        self.whole.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.ends = []
        self.there = self.back = 0  # bytes that went to the port, and that came from it
        self._begin(self._accept)

    def cut(self):
        """Nothing goes through from now on and nobody is told, as where a cable is pulled."""
        self.whole.clear()

    def mend(self):
        self.whole.set()

    def close(self):
        self.mend()
        for end in [self.listener, *self.ends]:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # its other side has gone
            end.close()

    def _begin(self, work, *arguments):
        threading.Thread(target=work, args=arguments, daemon=True).start()

    def _accept(self):
        while True:
            try:
                end, _ = self.listener.accept()
                self.whole.wait()
                other = socket.create_connection(("127.0.0.1", self.to_port))
            except ConnectionRefusedError:
                end.close()
                continue
            except OSError:
                return  # it was closed
            self.ends += [end, other]
            self._begin(self._pass_on, end, other, False)
            self._begin(self._pass_on, other, end, True)

    def _pass_on(self, end, other, is_back):
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while data := end.recv(CHUNK):
                if is_back:
                    self.back += len(data)
                else:
                    self.there += len(data)
                self.whole.wait()
                other.sendall(data)
        except OSError:
            pass
        self.whole.wait()
        for one in (end, other):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # the other direction did it
