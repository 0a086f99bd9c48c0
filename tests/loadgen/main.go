// loadgen measures what an API server can take: it sends prepared requests, a fixed number of them in flight, over
// HTTP/2, and does nothing else. It is the bar that other clients are measured against.
//
//	loadgen -kubeconfig FILE [-mode apply|get|delete] [-n 3000] [-in-flight 64] [-namespace load]
//	loadgen -kubeconfig FILE -objects FILE_OR_FOLDER     exactly these objects, one {"path": …, "object": …} a line
//	loadgen … -until-accepted                            each again and again, without pause, until it is taken
//	loadgen … -mode delete -gone /api/v1/namespaces      until those of the objects that are in this collection are gone
//	loadgen … -mode watch -gone COLLECTION               the same, while somebody else removes them
//	loadgen -print [-n 3000]                             those that it would make itself, in that form
//
// Prints one JSON line. The exit code is 1 if any answer was not a success.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("loadgen: ")
	var to target
	kubeconfig := flag.String("kubeconfig", "", "`file` whose first cluster and first user are taken")
	flag.StringVar(&to.server, "server", "", "`URL` of the API server, on a loopback address")
	flag.StringVar(&to.caFile, "ca", "", "certificate authority's `file`")
	flag.StringVar(&to.certFile, "cert", "", "client certificate's `file`")
	flag.StringVar(&to.keyFile, "key", "", "client key's `file`")
	var load load
	flag.StringVar(&load.mode, "mode", "apply", "apply, get, delete or watch")
	flag.IntVar(&load.inFlight, "in-flight", 64, "requests in flight")
	flag.StringVar(&load.fieldManager, "field-manager", "loadgen", "field manager of the applies")
	flag.DurationVar(&load.limit, "limit", 0, "stop sending after this time (0: never)")
	flag.BoolVar(&load.untilAccepted, "until-accepted", false, "send each without pause until it is taken")
	gone := flag.String("gone", "", "wait until the objects in this `collection` are gone")
	objects := flag.String("objects", "", "`file` of JSON lines, or folder of such *.jsonl files")
	count := flag.Int("n", 3000, "number of ConfigMaps, if -objects is not given")
	namespace := flag.String("namespace", "load", "their namespace, which must exist")
	revision := flag.String("revision", "1", "a `value` in each of them: another one makes every apply a change")
	printing := flag.Bool("print", false, "print the objects instead of sending them")
	label := flag.String("label", "", "`text` to repeat in the result")
	flag.Parse()

	items, err := made(*count, *namespace, *revision), error(nil)
	if *objects != "" {
		items, err = read(*objects)
	}
	stopOn(err)
	if *printing {
		lines := json.NewEncoder(os.Stdout)
		for _, one := range items {
			stopOn(lines.Encode(one))
		}
		return
	}
	if *kubeconfig != "" {
		stopOn(to.readKubeconfig(*kubeconfig))
	}
	client, err := to.connect()
	stopOn(err)
	var leaving *departures
	if *gone != "" {
		leaving, err = client.follow(to.server, *gone, items)
		stopOn(err)
	}
	began := time.Now()
	result := &result{Mode: load.mode}
	if load.mode != "watch" {
		result, err = load.send(client, to.server, items)
		stopOn(err)
	}
	if leaving != nil {
		at, err := leaving.wait(load.limit)
		stopOn(err)
		result.GoneSeconds, result.GoneAt = rounded(at.Sub(began).Seconds()), rounded(float64(at.UnixMicro())/1e6)
	}
	result.Label = *label
	line, err := json.Marshal(result)
	stopOn(err)
	fmt.Println(string(line))
	if result.Failed > 0 {
		os.Exit(1)
	}
}

func stopOn(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
