package pi

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"
)

const (
	opRRQ, opData, opAck, opError, opOACK = 1, 3, 4, 5, 6

	blockSize = 1024
	again     = 500 * time.Millisecond
)

var errNotFound = errors.New("not found")

// get loads a file; false: the firmware goes on without.
func (f *firmware) get(name string) bool { return f.load(name, false) }

// probe asks how long a file is, and breaks off.
func (f *firmware) probe(name string) bool { return f.load(name, true) }

func (f *firmware) load(name string, probe bool) bool {
	text, err := f.transfer(f.prefix+name, probe)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		f.boot.Silent = true
		f.boot.Asked = append(f.boot.Asked, name+": silence")
	case err != nil:
		f.boot.Asked = append(f.boot.Asked, name+": "+err.Error())
	case probe:
		f.boot.Asked = append(f.boot.Asked, name+": is there")
	default:
		f.boot.Asked = append(f.boot.Asked, name)
		f.boot.Files[name] = text
	}
	return err == nil
}

// transfer asks from the address that DHCP gave, again and again until something comes or patience ends. The ROM of a Pi 3 asks without options.
func (f *firmware) transfer(path string, probe bool) (string, error) {
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(f.boot.Address, 0)))
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	ask := append([]byte{0, opRRQ}, path+"\x00octet\x00"...)
	size := 512
	if path != "bootcode.bin" && path != "bootsig.bin" {
		ask = append(ask, "tsize\x000\x00blksize\x001024\x00"...)
	}
	t := &transfer{conn: conn, end: time.Now().Add(f.c.Patience), last: ask, to: f.server, size: size, probe: probe}
	return t.run()
}

// A transfer on its way.
type transfer struct {
	conn  *net.UDPConn
	end   time.Time
	last  []byte // what was sent last, and is sent again
	to    netip.AddrPort
	size  int
	block uint16
	probe bool
	text  []byte
}

func (t *transfer) run() (string, error) {
	b := make([]byte, 2048)
	for {
		if _, err := t.conn.WriteToUDPAddrPort(t.last, t.to); err != nil {
			return "", err
		}
		if err := t.conn.SetReadDeadline(time.Now().Add(again)); err != nil {
			return "", err
		}
		n, from, err := t.conn.ReadFromUDPAddrPort(b)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && time.Now().Before(t.end):
			continue
		case err != nil:
			return "", err
		}
		if done, err := t.take(b[:n], from); done || err != nil {
			return string(t.text), err
		}
	}
}

// take takes a packet; done: it was the last.
func (t *transfer) take(b []byte, from netip.AddrPort) (done bool, err error) {
	if len(b) < 4 {
		return false, nil
	}
	switch binary.BigEndian.Uint16(b) {
	case opError:
		return true, errNotFound
	case opOACK:
		t.to, t.size = from, blockSize
		if t.probe {
			_, err := t.conn.WriteToUDPAddrPort([]byte("\x00\x05\x00\x00Early terminate\x00"), from)
			return true, err
		}
		t.last = []byte{0, opAck, 0, 0}
	case opData:
		number := binary.BigEndian.Uint16(b[2:])
		t.to = from
		if number != t.block+1 {
			return false, nil
		}
		t.block, t.text = number, append(t.text, b[4:]...)
		t.last = []byte{0, opAck, b[2], b[3]}
		if len(b)-4 < t.size {
			_, err := t.conn.WriteToUDPAddrPort(t.last, from)
			return true, err
		}
	}
	return false, nil
}

// Fetch asks for a file from an address, as somebody who isn't a board may.
func Fetch(from netip.Addr, server netip.AddrPort, path string, patience time.Duration) (string, error) {
	f := &firmware{c: Config{Patience: patience}, boot: &Boot{Address: from}, server: server}
	return f.transfer(path, false)
}
