// Writes the SDKs of the provider for Pulumi from its schema, by Pulumi's own code generator.
//
//	generate SCHEMA LANGUAGE FOLDER [EXTRA…]
//
// SCHEMA is what pulumi-resource-fairlead --schema prints, LANGUAGE is nodejs or python. The folder is emptied first.
// EXTRA are folders whose files go into the package as they are.
package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

const tool = "the generator of Fairlead"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) < 3 {
		return fmt.Errorf("usage: generate SCHEMA LANGUAGE FOLDER [EXTRA...]")
	}
	pkg, err := readSchema(arguments[0])
	if err != nil {
		return err
	}
	extra := map[string][]byte{}
	for _, folder := range arguments[3:] {
		if err := addFiles(extra, folder); err != nil {
			return err
		}
	}
	files, err := generate(arguments[1], pkg, extra)
	if err != nil {
		return err
	}
	return write(arguments[2], files)
}

func readSchema(path string) (*schema.Package, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var spec schema.PackageSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return nil, fmt.Errorf("%s is no schema: %w", path, err)
	}
	pkg, diagnostics, err := schema.BindSpec(spec, noLoader{}, schema.ValidationOptions{})
	if err != nil {
		return nil, err
	}
	for _, one := range diagnostics {
		fmt.Fprintln(os.Stderr, "generate:", one.Summary, one.Detail)
	}
	if diagnostics.HasErrors() {
		return nil, fmt.Errorf("%s has errors", path)
	}
	return pkg, nil
}

func generate(language string, pkg *schema.Package, extra map[string][]byte) (map[string][]byte, error) {
	switch language {
	case "nodejs":
		return nodejs.GeneratePackage(tool, pkg, extra, nil, false, noLoader{})
	case "python":
		return python.GeneratePackage(tool, pkg, extra, noLoader{})
	}
	return nil, fmt.Errorf("there is no language %q: nodejs or python", language)
}

func addFiles(files map[string][]byte, folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		files[name], err = os.ReadFile(path)
		return err
	})
}

func write(folder string, files map[string][]byte) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
