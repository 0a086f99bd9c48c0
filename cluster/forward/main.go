// forward joins two network namespaces that have no link: it inherits a listening socket of the one, runs in the other,
// and passes each connection on to a loopback address there.
package main

import (
	"flag"
	"io"
	"log"
	"net"
	"os"
	"time"
)

func main() {
	descriptor := flag.Uint("fd", 3, "the inherited listening socket")
	target := flag.String("target", "", "the loopback `address` to pass connections on to")
	flag.Parse()
	if host, _, err := net.SplitHostPort(*target); err != nil || !net.ParseIP(host).IsLoopback() {
		log.Fatalf("-target %q is not a loopback address with a port", *target)
	}
	listener, err := net.FileListener(os.NewFile(uintptr(*descriptor), "listener"))
	if err != nil {
		log.Fatal(err)
	}
	for {
		outer, err := listener.Accept()
		if err != nil {
			log.Print(err)
			time.Sleep(10 * time.Millisecond) // out of descriptors: until some connection has ended
			continue
		}
		go join(outer.(*net.TCPConn), *target)
	}
}

func join(outer *net.TCPConn, target string) {
	defer outer.Close()
	dialed, err := net.Dial("tcp", target)
	if err != nil {
		log.Print(err)
		return
	}
	inner := dialed.(*net.TCPConn)
	defer inner.Close()
	sent := make(chan struct{})
	go func() {
		pass(inner, outer)
		close(sent)
	}()
	pass(outer, inner)
	<-sent
}

// pass copies until the source ends, and ends the destination's side with it.
func pass(destination, source *net.TCPConn) {
	if _, err := io.Copy(destination, source); err != nil {
		source.Close() // the other direction must not wait for a peer that is gone
	}
	destination.CloseWrite()
}
