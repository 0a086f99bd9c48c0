package main

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

const mostReviews = 10000

// seenReview is one review, as /record shows it. UID is the object's own; a conversion has only the names of its objects.
type seenReview struct {
	At        time.Time `json:"at"`
	Path      string    `json:"path"`
	Operation string    `json:"operation,omitempty"`
	DryRun    bool      `json:"dryRun"`
	Kind      string    `json:"kind,omitempty"`
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name,omitempty"`
	UID       string    `json:"uid,omitempty"`
	Objects   []string  `json:"objects,omitempty"`
}

// record is what a webhook has been asked: the counts of all reviews, and the first mostReviews of them one by one.
type record struct {
	guard     sync.Mutex
	listening *time.Time
	counts    map[string]int
	reviews   []seenReview
	left      int
}

func (r *record) listens() {
	r.guard.Lock()
	defer r.guard.Unlock()
	now := time.Now()
	r.listening = &now
}

func (r *record) add(path string, asked review) {
	r.guard.Lock()
	defer r.guard.Unlock()
	r.counts[path]++
	if len(r.reviews) == mostReviews {
		r.left++
		return
	}
	request := asked.Request
	one := seenReview{At: time.Now(), Path: path, Operation: request.Operation, DryRun: request.DryRun,
		Kind: request.Kind.Kind, Namespace: request.Namespace, Name: request.Name, UID: request.Object.Metadata.UID}
	for _, converted := range request.Objects {
		metadata, _ := converted["metadata"].(object)
		name, _ := metadata["name"].(string)
		one.Objects = append(one.Objects, name)
	}
	r.reviews = append(r.reviews, one)
}

func (r *record) answerCounts(w http.ResponseWriter, _ *http.Request) {
	r.guard.Lock()
	defer r.guard.Unlock()
	json.NewEncoder(w).Encode(r.counts)
}

// answerAll also says how many reviews are not listed, because there were too many.
func (r *record) answerAll(w http.ResponseWriter, _ *http.Request) {
	r.guard.Lock()
	defer r.guard.Unlock()
	json.NewEncoder(w).Encode(object{"listening": r.listening, "reviews": r.reviews, "left": r.left})
}
