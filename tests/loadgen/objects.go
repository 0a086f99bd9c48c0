package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// item is one object and where the API has it. The object's bytes are sent as they are read.
type item struct {
	Path   string          `json:"path"`
	Object json.RawMessage `json:"object"`
}

// made returns ConfigMaps that differ in name and content.
func made(count int, namespace, revision string) []item {
	items := make([]item, count)
	for i := range items {
		name := fmt.Sprintf("load-%05d", i)
		items[i] = item{
			Path: fmt.Sprintf("/api/v1/namespaces/%s/configmaps/%s", namespace, name),
			Object: json.RawMessage(fmt.Sprintf(
				`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":%q,"labels":{"app":"load"}},`+
					`"data":{"revision":%q,"index":"%d","text":"a line that is about as long as a line of settings"}}`,
				name, namespace, revision, i)),
		}
	}
	return items
}

// read returns the items of a file of JSON lines, or of all *.jsonl files of a folder in the order of their names.
func read(path string) ([]item, error) {
	files := []string{path}
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		if files, err = filepath.Glob(filepath.Join(path, "*.jsonl")); err != nil {
			return nil, err
		}
	}
	var items []item
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 4<<20) // no object that etcd takes is longer
		for number := 1; lines.Scan(); number++ {
			var one item
			if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, number, err)
			}
			if one.Path == "" || len(one.Object) == 0 {
				return nil, fmt.Errorf(`%s:%d: not of the form {"path": …, "object": …}`, name, number)
			}
			items = append(items, one)
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("%s holds no objects", path)
	}
	return items, nil
}
