# SPDX-License-Identifier: Apache-2.0
"""Packets of gdb's protocol sent to `npusim gdb` as gdb would not: protocol.py NPUSIM."""
import socket
import subprocess
import sys
import unittest

RUN = ["matmul_kernel", "--set", "m=512", "--set", "n=512", "--set", "k=512"]
NPUSIM = sys.argv[1]


def packet(text):
    return f"${text}#{sum(text.encode()) & 255:02x}".encode()


class Peer:
    """A run and a connection to it."""

    def __init__(self, *options):
        stdio = "--stdio" in options
        self.process = subprocess.Popen(
            [NPUSIM, "--config", "910b2", "gdb", *options, *RUN], stderr=subprocess.PIPE,
            stdin=subprocess.PIPE if stdio else None,
            stdout=subprocess.PIPE if stdio else subprocess.DEVNULL)
        self.socket = None
        if stdio:
            self.send, self.get = self.write, lambda: self.process.stdout.read(1)
            return
        port = self.process.stderr.readline().split(b":")[-1]
        self.socket = socket.create_connection(("127.0.0.1", int(port)))
        self.send, self.get = self.socket.sendall, lambda: self.socket.recv(1)

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def answer(self):
        """The next packet's text."""
        while (byte := self.get()) != b"$":
            assert byte, "the connection is broken"
        text = b""
        while (byte := self.get()) != b"#":
            text += byte
        self.get(), self.get()
        return text.decode()

    def ask(self, text):
        self.send(packet(text))
        return self.answer()

    def go_on(self, extra=b""):
        """The stop that is not for a new library."""
        self.send(packet("vCont;c") + extra)
        while "library" in (stop := self.answer()):
            self.send(packet("vCont;c"))
        return stop

    def end(self):
        self.process.communicate(timeout=60)
        if self.socket:
            self.socket.close()
        return self.process.returncode


class Protocol(unittest.TestCase):
    def peer(self, *options):
        peer = Peer(*(options or ("--listen", "127.0.0.1:0")))
        self.addCleanup(peer.process.kill)
        return peer

    def test_an_interrupt_stops_all_and_the_run_goes_on(self):
        peer = self.peer()
        self.assertRegex(peer.go_on(b"\x03"), "^T02thread:")
        self.assertEqual(peer.go_on(), "W00")
        self.assertEqual(peer.end(), 0)

    def test_a_run_goes_on_without_a_gdb_that_has_gone(self):
        for packets in ([], ["?", "vCont;c"]):
            peer = self.peer()
            for each in packets:
                peer.send(packet(each))
            peer.socket.close()
            self.assertEqual(peer.end(), 0)

    def test_what_is_no_packet_is_refused_or_dropped(self):
        peer = self.peer()
        peer.send(b"\x00\xff$$#zz$m#6d")
        self.assertEqual(peer.answer(), "E01")
        for bad in ("m", "m1", "mzz,4", "Z0,10,1", "Z9,10,1", "M0,2:00", "P0", "Hgffff", "vCont;",
                    "qXfer:threads:read::zz", "G00", "X0,1:", "qRcmd,0", "T9", "zz"):
            self.assertRegex(peer.ask(bad), "^(E[0-9a-f]{2})?$", bad)
        self.assertEqual(peer.ask("qC"), "QC1")
        self.assertEqual(peer.ask("m1,4"), "E14")
        self.assertEqual(peer.ask("mffffffffffffffff,4"), "E14")
        peer.socket.close()
        self.assertEqual(peer.end(), 0)

    def test_gdb_may_be_at_standard_input_and_output(self):
        peer = self.peer("--stdio")
        self.assertEqual(peer.ask("?"), "T05thread:1;")
        self.assertEqual(peer.go_on(), "W00")
        self.assertEqual(peer.process.stdout.read(), b"")
        self.assertEqual(peer.end(), 0)

    def test_a_signal_ends_a_run_that_waits_for_gdb(self):
        for command in (RUN, ["exec", "--", "/bin/true"]):
            process = subprocess.Popen([NPUSIM, "--config", "910b2", "gdb", "--listen", "127.0.0.1:0", *command],
                                       stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
            self.assertIn(b"waits for gdb", process.stderr.readline())
            process.terminate()
            self.assertIn(b"interrupted by SIGTERM", process.communicate(timeout=60)[1])
            self.assertEqual(process.returncode, 128 + 15)

    def test_programs_that_are_none_are_bad_input(self):
        ran = subprocess.run([NPUSIM, "--config", "910b2", "gdb", "exec", "--", "./none"], capture_output=True,
                             text=True, check=False, timeout=60)
        self.assertEqual(ran.returncode, 2)
        self.assertEqual(ran.stderr, "npusim: exec: ./none: No such file or directory\n")

    def test_an_address_that_is_none_is_bad_input(self):
        for address in ("nowhere", "127.0.0.1", "127.0.0.1:99999", "1.2.3:4", ":1"):
            ran = subprocess.run([NPUSIM, "--config", "910b2", "gdb", "--listen", address, *RUN],
                                 capture_output=True, text=True, check=False)
            self.assertEqual(ran.returncode, 2)
            self.assertRegex(ran.stderr, "^npusim: --listen: [^\n]*\n$")


unittest.main(argv=sys.argv[:1])
