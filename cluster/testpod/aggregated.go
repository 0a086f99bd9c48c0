package main

import (
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// store is an API of one kind, Gadget, kept in memory: get, list, watch, create, replace, patch (the body is merged in, whatever
// the type of the patch) and delete. Discovery tells of no delete, so that the cluster's garbage collector leaves it alone.
type store struct {
	group   string
	guard   sync.Mutex
	version int
	objects map[string]object
	watches map[chan object]bool
}

func aggregated(group, listen, certs string, late time.Duration, health string) {
	healthy := http.NewServeMux()
	healthy.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "ok") })
	go func() { log.Fatal(http.ListenAndServe(health, healthy)) }()

	api := &store{group: group, objects: map[string]object{}, watches: map[chan object]bool{}}
	base := "/apis/" + group + "/v1"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+base, api.discovery)
	mux.HandleFunc("GET "+base+"/gadgets", api.list)
	mux.HandleFunc("GET "+base+"/namespaces/{namespace}/gadgets", api.list)
	mux.HandleFunc("POST "+base+"/namespaces/{namespace}/gadgets", api.write)
	for _, method := range []string{"PUT", "PATCH"} {
		mux.HandleFunc(method+" "+base+"/namespaces/{namespace}/gadgets/{name}", api.write)
	}
	mux.HandleFunc("GET "+base+"/namespaces/{namespace}/gadgets/{name}", api.get)
	mux.HandleFunc("DELETE "+base+"/namespaces/{namespace}/gadgets/{name}", api.remove)
	time.Sleep(late)
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("serving %s on %s", group, listen)
	log.Fatal(http.ServeTLS(listener, mux, filepath.Join(certs, "tls.crt"), filepath.Join(certs, "tls.key")))
}

func reply(w http.ResponseWriter, code int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(answer)
}

func refuse(w http.ResponseWriter, code int, reason, message string) {
	reply(w, code, object{"kind": "Status", "apiVersion": "v1", "metadata": object{}, "status": "Failure", "code": code,
		"reason": reason, "message": message})
}

func (s *store) discovery(w http.ResponseWriter, _ *http.Request) {
	verbs := []string{"create", "get", "list", "patch", "update", "watch"}
	reply(w, http.StatusOK, object{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": s.group + "/v1",
		"resources": []object{{"name": "gadgets", "singularName": "gadget", "namespaced": true, "kind": "Gadget", "verbs": verbs}}})
}

func (s *store) get(w http.ResponseWriter, r *http.Request) {
	s.guard.Lock()
	defer s.guard.Unlock()
	one, found := s.objects[r.PathValue("namespace")+"/"+r.PathValue("name")]
	if !found {
		s.notFound(w, r)
		return
	}
	reply(w, http.StatusOK, one)
}

func (s *store) notFound(w http.ResponseWriter, r *http.Request) {
	refuse(w, http.StatusNotFound, "NotFound", fmt.Sprintf("gadgets.%s %q not found", s.group, r.PathValue("name")))
}

func (s *store) list(w http.ResponseWriter, r *http.Request) {
	chosen := func(one object) bool {
		metadata := one["metadata"].(object)
		namespace := r.PathValue("namespace")
		return (namespace == "" || metadata["namespace"] == namespace) && matches(metadata, r.URL.Query().Get("labelSelector"))
	}
	if query := r.URL.Query(); query.Get("watch") == "true" || query.Get("watch") == "1" {
		s.watch(w, r, chosen)
		return
	}
	s.guard.Lock()
	defer s.guard.Unlock()
	items := []object{}
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		if chosen(s.objects[name]) {
			items = append(items, s.objects[name])
		}
	}
	reply(w, http.StatusOK, object{"kind": "GadgetList", "apiVersion": s.group + "/v1", "items": items,
		"metadata": object{"resourceVersion": fmt.Sprint(s.version)}})
}

// watch tells of every change from now on; of what was written since the list, nothing is missed that a test could notice.
func (s *store) watch(w http.ResponseWriter, r *http.Request, chosen func(object) bool) {
	events := make(chan object, 100)
	s.guard.Lock()
	s.watches[events] = true
	s.guard.Unlock()
	defer func() {
		s.guard.Lock()
		delete(s.watches, events)
		s.guard.Unlock()
	}()
	w.Header().Set("Content-Type", "application/json")
	w.(http.Flusher).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case event := <-events:
			if chosen(event["object"].(object)) {
				json.NewEncoder(w).Encode(event)
				w.(http.Flusher).Flush()
			}
		}
	}
}

func (s *store) tell(kind string, one object) {
	for events := range s.watches {
		select {
		case events <- object{"type": kind, "object": one}:
		default: // nobody reads there
		}
	}
}

func (s *store) write(w http.ResponseWriter, r *http.Request) {
	var sent object
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		refuse(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	s.guard.Lock()
	defer s.guard.Unlock()
	metadata, _ := sent["metadata"].(object)
	if metadata == nil {
		metadata = object{}
	}
	name := r.PathValue("name")
	if name == "" {
		name, _ = metadata["name"].(string)
	}
	key := r.PathValue("namespace") + "/" + name
	old, exists := s.objects[key]
	isApply := r.Header.Get("Content-Type") == "application/apply-patch+yaml"
	switch {
	case exists && r.Method == "POST":
		refuse(w, http.StatusConflict, "AlreadyExists", fmt.Sprintf("gadgets.%s %q already exists", s.group, name))
		return
	case !exists && r.Method != "POST" && !isApply:
		s.notFound(w, r)
		return
	}
	code, event, next := http.StatusOK, "MODIFIED", sent
	switch {
	case !exists:
		code, event = http.StatusCreated, "ADDED"
		metadata["uid"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", s.version)
		metadata["creationTimestamp"] = time.Now().UTC().Format(time.RFC3339)
	case r.Method == "PATCH":
		next = merged(old, sent)
	default:
		for _, kept := range []string{"uid", "creationTimestamp"} {
			metadata[kept] = old["metadata"].(object)[kept]
		}
	}
	if next["metadata"] == nil {
		next["metadata"] = metadata
	}
	metadata = maps.Clone(next["metadata"].(object)) // a watch may be reading the old one
	next["metadata"] = metadata
	metadata["name"], metadata["namespace"] = name, r.PathValue("namespace")
	next["apiVersion"], next["kind"] = s.group+"/v1", "Gadget"
	if r.URL.Query().Get("dryRun") == "" {
		s.version++
		metadata["resourceVersion"] = fmt.Sprint(s.version)
		s.objects[key] = next
		s.tell(event, next)
	}
	reply(w, code, next)
}

func (s *store) remove(w http.ResponseWriter, r *http.Request) {
	s.guard.Lock()
	defer s.guard.Unlock()
	key := r.PathValue("namespace") + "/" + r.PathValue("name")
	one, found := s.objects[key]
	if !found {
		s.notFound(w, r)
		return
	}
	delete(s.objects, key)
	s.version++
	s.tell("DELETED", one)
	reply(w, http.StatusOK, one)
}

// merged is a JSON merge patch; it shares nothing with the old object that it changes.
func merged(old, patch object) object {
	result := maps.Clone(old)
	for key, value := range patch {
		deeper, isObject := value.(object)
		before, wasObject := result[key].(object)
		switch {
		case value == nil:
			delete(result, key)
		case isObject && wasObject:
			result[key] = merged(before, deeper)
		default:
			result[key] = value
		}
	}
	return result
}

// matches knows the selectors KEY=VALUE and KEY, with commas between them.
func matches(metadata object, selector string) bool {
	labels, _ := metadata["labels"].(object)
	for term := range strings.SplitSeq(selector, ",") {
		key, value, hasValue := strings.Cut(strings.Replace(term, "==", "=", 1), "=")
		label, has := labels[key]
		if term != "" && (!has || hasValue && label != value) {
			return false
		}
	}
	return true
}
