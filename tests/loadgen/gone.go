package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// departures follows objects of one collection until all of them are gone, as the server tells a watcher.
type departures struct {
	left   map[string]bool
	stream io.ReadCloser
}

// follow begins to watch the collection: of the items, those that are in it.
func (c *client) follow(server, collection string, items []item) (*departures, error) {
	left := map[string]bool{}
	for _, one := range items {
		if name, found := strings.CutPrefix(one.Path, collection+"/"); found && !strings.Contains(name, "/") {
			left[name] = true
		}
	}
	if len(left) == 0 {
		return nil, fmt.Errorf("none of the objects is in %s", collection)
	}
	request, err := http.NewRequest(http.MethodGet, server+collection+"?watch=true", nil)
	if err != nil {
		return nil, err
	}
	c.authorize(request)
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("%s cannot be watched: %s", collection, response.Status)
	}
	return &departures{left, response.Body}, nil
}

// wait returns the moment at which the last of them was gone; an error after the limit (0: never).
func (d *departures) wait(limit time.Duration) (time.Time, error) {
	defer d.stream.Close()
	if limit > 0 {
		defer time.AfterFunc(limit, func() { d.stream.Close() }).Stop()
	}
	events := json.NewDecoder(d.stream)
	for len(d.left) > 0 {
		var event struct {
			Type   string
			Object struct{ Metadata struct{ Name string } }
		}
		if err := events.Decode(&event); err != nil {
			return time.Time{}, fmt.Errorf("%d objects were still there when the watch ended: %w", len(d.left), err)
		}
		if event.Type == "DELETED" {
			delete(d.left, event.Object.Metadata.Name)
		}
	}
	return time.Now(), nil
}
