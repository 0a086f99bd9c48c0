package main

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAKubeconfigIsReadInEveryStyle(t *testing.T) {
	token := write(t, "token", "secret\n")
	for style, text := range map[string]string{
		"blocks": `
clusters:
- cluster:
    certificate-authority-data: Y2E=
    server: https://127.0.0.1:1
users:
- user:
    tokenFile: TOKEN`,
		"flow": `
clusters: [{cluster: {server: "https://127.0.0.1:1", certificate-authority-data: Y2E=}}]
users: [{user: {tokenFile: TOKEN}}]`,
		"JSON": `{"clusters":[{"cluster":{"server":"https://127.0.0.1:1","certificate-authority-data":"Y2E="}}],
			"users":[{"user":{"tokenFile":"TOKEN"}}]}`,
	} {
		var to target
		path := write(t, "kubeconfig", strings.Replace(text, "TOKEN", token, 1))
		if err := to.readKubeconfig(path); err != nil {
			t.Fatal(err)
		}
		if to.server != "https://127.0.0.1:1" || string(to.ca) != "ca" || to.token != "secret" || to.caFile != "" {
			t.Errorf("%s: %+v", style, to)
		}
	}
}

func TestABadLineIsNamed(t *testing.T) {
	path := write(t, "objects.jsonl", `{"path": "/api/v1/namespaces/a", "object": {}}`+"\n"+`{"path": ""}`+"\n")
	if _, err := read(path); err == nil || !strings.Contains(err.Error(), "objects.jsonl:2: not of the form") {
		t.Error(err)
	}
}

func TestOnlyLoopbackIsLoaded(t *testing.T) {
	for _, server := range []string{"https://192.0.2.1:6443", "https://example.com", "http://127.0.0.1:1", ""} {
		_, err := (&target{server: server}).connect()
		if err == nil || !strings.Contains(err.Error(), "not https on a loopback address") {
			t.Errorf("%q: %v", server, err)
		}
	}
}

func TestEveryObjectIsSentOnceAsItIs(t *testing.T) {
	var guard sync.Mutex
	bodies := map[string]string{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/version" {
			return
		}
		body, _ := io.ReadAll(r.Body)
		guard.Lock()
		defer guard.Unlock()
		bodies[r.Method+" "+r.URL.String()] += string(body)
		if strings.HasSuffix(r.URL.Path, "load-00007") {
			http.Error(w, "not this one", http.StatusConflict)
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	to := target{}
	encoded := base64.StdEncoding.EncodeToString(ca)
	kubeconfig := fmt.Sprintf("server: %s\ncertificate-authority-data: %s\n", server.URL, encoded)
	if err := to.readKubeconfig(write(t, "kubeconfig", kubeconfig)); err != nil {
		t.Fatal(err)
	}
	client, err := to.connect()
	if err != nil {
		t.Fatal(err)
	}
	items := made(20, "load", "1")
	done, err := load{mode: "apply", inFlight: 4, fieldManager: "me"}.send(client, to.server, items)
	if err != nil {
		t.Fatal(err)
	}
	if done.Protocol != "HTTP/2.0" || done.Sent != 20 || done.Failed != 1 ||
		done.Codes["200"] != 19 || done.Codes["409"] != 1 || !strings.Contains(done.FirstError, "not this one") {
		t.Errorf("%+v", done)
	}
	for _, one := range items {
		if got := bodies["PATCH "+one.Path+"?force=true&fieldManager=me"]; got != string(one.Object) {
			t.Errorf("%s: %q", one.Path, got)
		}
	}
}

func TestEachIsSentUntilItIsTaken(t *testing.T) {
	var guard sync.Mutex
	asked := map[string]int{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		guard.Lock()
		defer guard.Unlock()
		if asked[r.URL.Path]++; asked[r.URL.Path] < 3 && r.URL.Path != "/version" {
			http.Error(w, "not yet", http.StatusInternalServerError)
		} else if r.URL.Path != "/version" && len(body) == 0 {
			http.Error(w, "nothing was sent", http.StatusBadRequest)
		}
	}))
	defer server.Close()
	to := target{server: server.URL, ca: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})}
	client, err := to.connect()
	if err != nil {
		t.Fatal(err)
	}
	done, err := load{mode: "apply", inFlight: 2, untilAccepted: true}.send(client, to.server, made(4, "load", "1"))
	if err != nil || done.Failed != 0 || done.Sent != 4 || done.Attempts != 12 {
		t.Errorf("%+v %v", done, err)
	}
}

func TestTheLastDepartureIsAwaited(t *testing.T) {
	objects := []string{"ADDED a", "ADDED b", "DELETED other", "DELETED a", "MODIFIED b", "DELETED b", "ADDED a"}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, one := range objects {
			kind, name, _ := strings.Cut(one, " ")
			fmt.Fprintf(w, `{"type":%q,"object":{"metadata":{"name":%q}}}`+"\n", kind, name)
		}
	}))
	defer server.Close()
	to := target{server: server.URL, ca: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})}
	client, err := to.connect()
	if err != nil {
		t.Fatal(err)
	}
	items := []item{{Path: "/api/v1/namespaces/a"}, {Path: "/api/v1/namespaces/b"}, {Path: "/api/v1/namespaces/a/pods/p"}}
	leaving, err := client.follow(to.server, "/api/v1/namespaces", items)
	if err != nil {
		t.Fatal(err)
	}
	if at, err := leaving.wait(0); err != nil || at.IsZero() {
		t.Error(at, err)
	}
	objects = objects[:3]
	if leaving, err = client.follow(to.server, "/api/v1/namespaces", items); err != nil {
		t.Fatal(err)
	}
	if _, err := leaving.wait(0); err == nil || err.Error() != "2 objects were still there when the watch ended: EOF" {
		t.Error(err)
	}
	if _, err := client.follow(to.server, "/api/v1/nodes", items); err == nil ||
		err.Error() != "none of the objects is in /api/v1/nodes" {
		t.Error(err)
	}
}
