package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// load is how the requests are sent.
type load struct {
	mode, fieldManager string
	inFlight           int
	limit              time.Duration
	untilAccepted      bool
}

type result struct {
	Label       string         `json:"label,omitempty"`
	Mode        string         `json:"mode"`
	Protocol    string         `json:"protocol"`
	InFlight    int            `json:"in_flight"`
	Connections int64          `json:"connections"`
	Sent        int            `json:"n"`
	Attempts    int64          `json:"attempts"`
	Failed      int            `json:"failed"`
	Seconds     float64        `json:"seconds"`
	PerSecond   float64        `json:"per_s"`
	GoneSeconds float64        `json:"gone_s,omitempty"`  // until the last of them was gone
	GoneAt      float64        `json:"gone_at,omitempty"` // that moment, since 1970
	P50         float64        `json:"p50_ms"`
	P90         float64        `json:"p90_ms"`
	P99         float64        `json:"p99_ms"`
	Max         float64        `json:"max_ms"`
	Codes       map[string]int `json:"codes"` // "error" where there was no answer
	FirstError  string         `json:"first_error,omitempty"`
	CPUSeconds  float64        `json:"cpu_s"`
	MaxRSS      int64          `json:"maxrss_kib"`
}

// answer is what came of one request.
type answer struct {
	milliseconds float64
	code         string
	problem      string
}

func (a answer) succeeded() bool { return a.problem == "" && a.code != "error" }

// prepare makes all requests, so that none of that work falls into the time measured.
func (l load) prepare(to *client, server string, items []item) ([]*http.Request, error) {
	method, query, withBody := http.MethodPatch, "?force=true&fieldManager="+url.QueryEscape(l.fieldManager), true
	switch l.mode {
	case "apply":
	case "get":
		method, query, withBody = http.MethodGet, "", false
	case "delete":
		method, query, withBody = http.MethodDelete, "", false
	default:
		return nil, fmt.Errorf("there is no mode %q: apply, get or delete", l.mode)
	}
	requests := make([]*http.Request, len(items))
	for i, one := range items {
		var body io.Reader
		if withBody {
			body = bytes.NewReader(one.Object)
		}
		request, err := http.NewRequest(method, server+one.Path+query, body)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Accept", "application/json")
		if withBody {
			request.Header.Set("Content-Type", "application/apply-patch+yaml")
		}
		to.authorize(request)
		requests[i] = request
	}
	return requests, nil
}

func (c *client) authorize(request *http.Request) {
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
}

// warm opens the connection: the handshake is not part of the rate. It returns the protocol spoken.
func (c *client) warm(server string) (string, error) {
	request, err := http.NewRequest(http.MethodGet, server+"/version", nil)
	if err != nil {
		return "", err
	}
	c.authorize(request)
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	io.Copy(io.Discard, response.Body)
	return response.Proto, nil
}

func (c *client) do(request *http.Request) answer {
	began := time.Now()
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return answer{since(began), "error", err.Error()}
	}
	defer response.Body.Close()
	var problem bytes.Buffer
	if response.StatusCode < 300 {
		_, err = io.Copy(io.Discard, response.Body)
	} else {
		_, err = io.Copy(&problem, response.Body)
	}
	if err != nil {
		return answer{since(began), "error", err.Error()}
	}
	return answer{since(began), fmt.Sprint(response.StatusCode), problem.String()}
}

// insist sends a request without pause until it is taken, or until the time is over.
func (l load) insist(to *client, request *http.Request, began time.Time) (last answer, attempts int64) {
	for {
		last = to.do(request)
		attempts++
		if !l.untilAccepted || last.succeeded() || (l.limit != 0 && time.Since(began) >= l.limit) {
			return last, attempts
		}
		if request.GetBody != nil {
			request.Body, _ = request.GetBody()
		}
	}
}

func (l load) send(to *client, server string, items []item) (*result, error) {
	requests, err := l.prepare(to, server, items)
	if err != nil {
		return nil, err
	}
	protocol, err := to.warm(server)
	if err != nil {
		return nil, err
	}
	answers := make([]answer, len(requests))
	var next, attempts atomic.Int64
	var workers sync.WaitGroup
	cpuBefore, _ := usage()
	began := time.Now()
	for range l.inFlight {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for l.limit == 0 || time.Since(began) < l.limit {
				i := int(next.Add(1)) - 1
				if i >= len(requests) {
					return
				}
				last, tried := l.insist(to, requests[i], began)
				answers[i] = last
				attempts.Add(tried)
			}
		}()
	}
	workers.Wait()
	seconds := time.Since(began).Seconds()
	cpuAfter, maxRSS := usage()
	sent := min(int(next.Load()), len(requests))
	done := &result{Mode: l.mode, Protocol: protocol, InFlight: l.inFlight, Connections: to.connections.Load(), Sent: sent,
		Attempts: attempts.Load(), Seconds: rounded(seconds), PerSecond: rounded(float64(sent) / seconds), Codes: map[string]int{},
		CPUSeconds: rounded(cpuAfter - cpuBefore), MaxRSS: maxRSS}
	done.summarize(answers[:sent])
	return done, nil
}

func (r *result) summarize(answers []answer) {
	times := make([]float64, 0, len(answers))
	for _, one := range answers {
		times = append(times, one.milliseconds)
		r.Codes[one.code]++
		if !one.succeeded() {
			r.Failed++
			if r.FirstError == "" {
				r.FirstError = one.problem
			}
		}
	}
	slices.Sort(times)
	at := func(quantile float64) float64 {
		if len(times) == 0 {
			return 0
		}
		return rounded(times[min(len(times)-1, int(quantile*float64(len(times))))])
	}
	r.P50, r.P90, r.P99, r.Max = at(.5), at(.9), at(.99), at(1)
}

// usage returns this process's CPU seconds and its peak memory in KiB.
func usage() (cpu float64, maxRSS int64) {
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9, used.Maxrss
}

func since(began time.Time) float64 { return float64(time.Since(began).Microseconds()) / 1000 }

func rounded(value float64) float64 { return math.Round(value*1000) / 1000 }
