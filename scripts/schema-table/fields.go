// Prints, as JSON, what OpenAPI does not say of the built-in types: how each field is written when it is zero.
//
//	{"core.v1.Container": {"name": "always", "image": "zero", "securityContext": "nil"}}
//
// "always" is written whatever its value, "null" as null when it is not set; "zero" is left out when it is zero or empty,
// "nil" when it is not set.
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

var found = map[string]map[string]string{}

func name(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	return parts[len(parts)-2] + "." + parts[len(parts)-1] + "." + t.Name()
}

// A type that writes itself is opaque: its fields never show.
func opaque(t reflect.Type) bool {
	_, marshals := reflect.PointerTo(t).MethodByName("MarshalJSON")
	return marshals
}

func visit(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		visit(t.Elem())
	case reflect.Struct:
		if t.PkgPath() == "" || opaque(t) || found[name(t)] != nil {
			return
		}
		fields := map[string]string{}
		found[name(t)] = fields
		collect(t, fields)
	}
}

func collect(t reflect.Type, fields map[string]string) {
	for i := range t.NumField() {
		field := t.Field(i)
		tag := strings.Split(field.Tag.Get("json"), ",")
		if tag[0] == "" && (field.Anonymous || len(tag) > 1 && tag[1] == "inline") {
			inner := field.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			collect(inner, fields)
			continue
		}
		if tag[0] == "" || tag[0] == "-" {
			continue
		}
		options := "," + strings.Join(tag[1:], ",") + ","
		how := "always"
		switch omitted := strings.Contains(options, ",omitempty,"); field.Type.Kind() {
		case reflect.Struct:
			// omitempty has no effect on a struct.
			if strings.Contains(options, ",omitzero,") {
				how = "zero"
			}
		case reflect.Pointer:
			how = "null"
			if omitted {
				how = "nil"
			}
		case reflect.Slice, reflect.Map:
			how = "null"
			if omitted {
				how = "zero"
			}
		default:
			if omitted {
				how = "zero"
			}
		}
		fields[tag[0]] = how
		visit(field.Type)
	}
}

func main() {
	apiextensions.AddToScheme(scheme.Scheme)
	apiregistration.AddToScheme(scheme.Scheme)
	for _, t := range scheme.Scheme.AllKnownTypes() {
		visit(t)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	encoder.Encode(found)
}
