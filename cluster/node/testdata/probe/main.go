// Command probe is what the test runs in pods: it looks a name up, asks a URL, and answers broadcasts, when it's told to.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"
)

func main() {
	listen := flag.String("http", ":8080", "address to serve at")
	device := flag.String("dhcp", "", "device on which broadcasts to port 67 are answered by one to port 68")
	flag.Parse()
	if *device != "" {
		if err := answer(*device); err != nil {
			fmt.Fprintln(os.Stderr, "probe:", err)
			os.Exit(1)
		}
	}
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		name, _ := os.Hostname()
		fmt.Fprint(w, "hello from ", name)
	})
	http.HandleFunc("/resolve", func(w http.ResponseWriter, r *http.Request) {
		addresses, err := net.DefaultResolver.LookupHost(r.Context(), r.URL.Query().Get("host"))
		say(w, fmt.Sprint(addresses), err)
	})
	http.HandleFunc("/get", func(w http.ResponseWriter, r *http.Request) {
		res, err := (&http.Client{Timeout: 5 * time.Second}).Get(r.URL.Query().Get("url"))
		if err != nil {
			say(w, "", err)
			return
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		say(w, string(b), err)
	})
	fmt.Println("probe serves", *listen)
	if err := http.ListenAndServe(*listen, nil); err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

func say(w http.ResponseWriter, answer string, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	fmt.Fprint(w, answer)
}

func answer(device string) error {
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var inner error
		err := c.Control(func(fd uintptr) {
			inner = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_BROADCAST, 1)
			if inner == nil {
				inner = syscall.BindToDevice(int(fd), device)
			}
		})
		if err != nil {
			return err
		}
		return inner
	}}
	conn, err := lc.ListenPacket(context.Background(), "udp4", ":67")
	if err != nil {
		return err
	}
	go func() {
		for b := make([]byte, 1500); ; {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				continue
			}
			fmt.Println("heard", string(b[:n]), "from", from)
			if _, err := conn.WriteTo(append([]byte("offer to "), b[:n]...), &net.UDPAddr{IP: net.IPv4bcast, Port: 68}); err != nil {
				fmt.Println("cannot answer:", err)
			}
		}
	}()
	return nil
}
