// testpod is what pods run in tests: a server, a client, an admission and conversion webhook or an aggregated API that can be
// late, or an operator that removes finalizers.
//
//	testpod serve   [-listen :8080]    HTTP; answers every request with the pod's name
//	testpod webhook [-listen :8443] [-certs /certs] [-late 3s] [-prompt NAME] [-health :8080]
//	testpod aggregated -group GROUP [-listen :8443] [-certs /certs] [-late 3s] [-health :8080]
//	testpod finalizer -path /apis/…  [-takes 1s]
//	testpod get URL                    one GET; prints the status and the body
//	testpod wait                       does nothing until it is told to end
//
// The webhook answers HTTPS with tls.crt and tls.key of the -certs folder, and starts to listen only after -late, unless
// its pod is the -prompt one; -health answers from the start, so that the pod is Ready before its webhook is. Its paths:
//
//	/validate   denies an object that has the label testpod/deny, allows any other
//	/mutate     adds the annotation testpod/mutated
//	/convert    CustomResourceDefinition conversion: changes apiVersion and nothing else
//	/seen       (on -health) how many reviews each path has had, as JSON
//	/record     (on -health) when it began to listen, and the reviews one by one, as JSON; see record.go
//
// The aggregated API is late in the same way; see aggregated.go. For finalizer see finalizer.go.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	if len(os.Args) < 2 {
		log.Fatal("usage: testpod serve|webhook|aggregated|finalizer|get|wait")
	}
	options := flag.NewFlagSet("testpod "+os.Args[1], flag.ExitOnError)
	switch os.Args[1] {
	case "serve":
		listen := options.String("listen", ":8080", "listen `address`")
		options.Parse(os.Args[2:])
		go serve(*listen)
	case "webhook":
		listen := options.String("listen", ":8443", "listen `address`")
		certs := options.String("certs", "/certs", "`folder` of tls.crt and tls.key")
		late := options.Duration("late", 0, "how long to wait before listening")
		prompt := options.String("prompt", "", "the `pod` that is not late")
		health := options.String("health", ":8080", "`address` of /healthz, /seen and /record, which are never late")
		options.Parse(os.Args[2:])
		if name, _ := os.Hostname(); name == *prompt {
			*late = 0
		}
		go webhook(*listen, *certs, *late, *health)
	case "aggregated":
		group := options.String("group", "", "the API `group`")
		listen := options.String("listen", ":8443", "listen `address`")
		certs := options.String("certs", "/certs", "`folder` of tls.crt and tls.key")
		late := options.Duration("late", 0, "how long to wait before listening")
		health := options.String("health", ":8080", "`address` of /healthz, which is never late")
		options.Parse(os.Args[2:])
		go aggregated(*group, *listen, *certs, *late, *health)
	case "finalizer":
		path := options.String("path", "", "where the API has the custom resources, in all namespaces")
		takes := options.Duration("takes", time.Second, "how long it has to clean up after each")
		options.Parse(os.Args[2:])
		go finalize(*path, *takes)
	case "get":
		options.Parse(os.Args[2:])
		get(options.Arg(0))
		return
	case "wait":
	default:
		log.Fatalf("there is no %q; testpod serve|webhook|aggregated|finalizer|get|wait", os.Args[1])
	}
	<-end
}

func serve(listen string) {
	name, _ := os.Hostname()
	log.Printf("serving on %s", listen)
	log.Fatal(http.ListenAndServe(listen, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello from %s\n", name)
	})))
}

func get(url string) {
	client := http.Client{Timeout: 5 * time.Second}
	answer, err := client.Get(url)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	fmt.Println(answer.Status)
	if _, err := io.Copy(os.Stdout, answer.Body); err != nil {
		log.Fatal(err)
	}
}

type object = map[string]any

// review is what AdmissionReview and ConversionReview have in common with what is needed here.
type review struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Request    struct {
		UID               string   `json:"uid"`
		DesiredAPIVersion string   `json:"desiredAPIVersion"`
		Objects           []object `json:"objects"`
		Namespace         string   `json:"namespace"`
		Name              string   `json:"name"`
		Operation         string   `json:"operation"`
		DryRun            bool     `json:"dryRun"`
		Kind              struct {
			Kind string `json:"kind"`
		} `json:"kind"`
		Object struct {
			Metadata struct {
				UID         string            `json:"uid"`
				Labels      map[string]string `json:"labels"`
				Annotations map[string]string `json:"annotations"`
			} `json:"metadata"`
		} `json:"object"`
	} `json:"request"`
}

func webhook(listen, certs string, late time.Duration, health string) {
	seen := record{counts: map[string]int{}}
	healthy := http.NewServeMux()
	healthy.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "ok") })
	healthy.HandleFunc("/seen", seen.answerCounts)
	healthy.HandleFunc("/record", seen.answerAll)
	go func() { log.Fatal(http.ListenAndServe(health, healthy)) }()

	reviews := http.NewServeMux()
	answers := map[string]func(review) object{"/validate": validate, "/mutate": mutate, "/convert": convert}
	for path, decide := range answers {
		reviews.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			var asked review
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			seen.add(path, asked)
			response := decide(asked)
			response["uid"] = asked.Request.UID
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(object{"apiVersion": asked.APIVersion, "kind": asked.Kind, "response": response})
		})
	}
	time.Sleep(late)
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		log.Fatal(err)
	}
	seen.listens()
	log.Printf("answering reviews on %s", listen)
	log.Fatal(http.ServeTLS(listener, reviews, filepath.Join(certs, "tls.crt"), filepath.Join(certs, "tls.key")))
}

func validate(asked review) object {
	if _, refused := asked.Request.Object.Metadata.Labels["testpod/deny"]; refused {
		status := object{"code": 403, "reason": "Forbidden", "message": "it has the label testpod/deny"}
		return object{"allowed": false, "status": status}
	}
	return object{"allowed": true}
}

func mutate(asked review) object {
	patch := object{"op": "add", "path": "/metadata/annotations", "value": object{"testpod/mutated": "yes"}}
	if asked.Request.Object.Metadata.Annotations != nil {
		patch = object{"op": "add", "path": "/metadata/annotations/testpod~1mutated", "value": "yes"}
	}
	encoded, _ := json.Marshal([]object{patch})
	// Bytes become base64 in JSON, which is what a patch has to be.
	return object{"allowed": true, "patchType": "JSONPatch", "patch": encoded}
}

func convert(asked review) object {
	for _, one := range asked.Request.Objects {
		one["apiVersion"] = asked.Request.DesiredAPIVersion
	}
	return object{"convertedObjects": asked.Request.Objects, "result": object{"status": "Success"}}
}
