// Reads a fixture of tests/fixtures on its standard input, asks the libraries of Kubernetes for the answer of every
// case again, and writes the fixture with those answers.
//
//	go run . cel|json-patch|admission-answers <old >new
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"sort"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	webhookerrors "k8s.io/apiserver/pkg/admission/plugin/webhook/errors"
	webhookrequest "k8s.io/apiserver/pkg/admission/plugin/webhook/request"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/util/webhook"
)

// A case with its members in their order, so that what stays the same is written the same.
type line struct {
	keys   []string
	values map[string]json.RawMessage
}

func parse(text []byte) line {
	out := line{values: map[string]json.RawMessage{}}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.Token()
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			log.Fatalf("%s: %v", text, err)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			log.Fatalf("%s: %v", text, err)
		}
		out.keys = append(out.keys, key.(string))
		out.values[key.(string)] = value
	}
	return out
}

func (l *line) has(key string) bool { return l.values[key] != nil }

func (l *line) text(key string) string {
	var text string
	json.Unmarshal(l.values[key], &text)
	return text
}

// Replaces the answer, which is under one of several names.
func (l *line) answer(names []string, name string, value any) {
	kept := l.keys[:0]
	for _, key := range l.keys {
		isAnswer := false
		for _, one := range names {
			isAnswer = isAnswer || key == one
		}
		if !isAnswer {
			kept = append(kept, key)
		}
	}
	l.keys = append(kept, name)
	l.values[name] = encode(value)
}

func encode(value any) json.RawMessage {
	if raw, ok := value.(json.RawMessage); ok {
		return raw
	}
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		log.Fatal(err)
	}
	return bytes.TrimSpace(buffer.Bytes())
}

func (l *line) write(out io.Writer) {
	parts := []string{}
	for _, key := range l.keys {
		parts = append(parts, fmt.Sprintf("%s: %s", encode(key), l.values[key]))
	}
	fmt.Fprintf(out, "{%s}\n", strings.Join(parts, ", "))
}

// ---- expressions

var celAnswers = []string{"value", "error", "refused", "limit"}

func celEnvironment() *cel.Env {
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: environment.DefaultCompatibilityVersion(),
		EnvOptions: []cel.EnvOption{cel.Variable("object", cel.DynType), cel.Variable("oldObject", cel.DynType),
			cel.Variable("request", cel.DynType), cel.Variable("variables", cel.DynType)},
	})
	if err != nil {
		log.Fatal(err)
	}
	env, err := set.Env(environment.NewExpressions)
	if err != nil {
		log.Fatal(err)
	}
	return env
}

// As src/cel/value.cc writes values.
func celText(value ref.Val) string {
	switch v := value.(type) {
	case types.Null:
		return "null"
	case types.Bool:
		return fmt.Sprintf("%v", bool(v))
	case types.Int:
		return fmt.Sprintf("%d", int64(v))
	case types.Uint:
		return fmt.Sprintf("%du", uint64(v))
	case types.Double:
		return fmt.Sprintf("double(%g)", float64(v))
	case types.String:
		return string(encode(string(v)))
	case types.Bytes:
		return fmt.Sprintf("b%x", []byte(v))
	case *types.Type:
		return fmt.Sprintf("type(%s)", v.TypeName())
	case traits.Lister:
		parts := []string{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			parts = append(parts, celText(it.Next()))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case traits.Mapper:
		parts := []string{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			parts = append(parts, celText(key)+": "+celText(v.Get(key)))
		}
		sort.Strings(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprintf("%T", value)
}

func recordCel(each func(func(*line))) {
	env, bound := celEnvironment(), map[string]any{}
	each(func(l *line) {
		if l.has("bound") {
			bound = map[string]any{}
			if err := utiljson.Unmarshal(l.values["bound"], &bound); err != nil {
				log.Fatal(err)
			}
			for _, name := range []string{"object", "oldObject", "request", "variables"} {
				if _, found := bound[name]; !found {
					bound[name] = nil
				}
			}
		}
		// What Fairlead does not evaluate is no answer of the library.
		if !l.has("expression") || l.has("limit") {
			return
		}
		// Types are not checked: Fairlead finds out about those when it evaluates.
		ast, issues := env.Parse(l.text("expression"))
		if issues.Err() != nil {
			l.answer(celAnswers, "refused", true)
			return
		}
		program, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost))
		if err != nil {
			l.answer(celAnswers, "refused", true)
			return
		}
		value, _, err := program.Eval(bound)
		if err != nil {
			l.answer(celAnswers, "error", err.Error())
			return
		}
		l.answer(celAnswers, "value", celText(value))
	})
}

// ---- patches

func recordPatches(each func(func(*line))) {
	var document json.RawMessage
	names := []string{"result", "error"}
	each(func(l *line) {
		if l.has("document") {
			document = l.values["document"]
			return
		}
		if l.has("merge") {
			merged, err := jsonpatch.MergePatch(document, l.values["merge"])
			if err != nil {
				l.answer(names, "error", err.Error())
			} else {
				l.answer(names, "result", spaced(merged))
			}
			return
		}
		patch, err := jsonpatch.DecodePatch(l.values["patch"])
		var patched []byte
		if err == nil {
			patched, err = patch.Apply(document)
		}
		if err != nil {
			l.answer(names, "error", err.Error())
		} else {
			l.answer(names, "result", spaced(patched))
		}
	})
}

// JSON with the spaces that Python writes.
func spaced(text []byte) json.RawMessage {
	var out bytes.Buffer
	inString, escaped := false, false
	for _, c := range text {
		out.WriteByte(c)
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case !inString && (c == ',' || c == ':'):
			out.WriteByte(' ')
		}
	}
	return out.Bytes()
}

// ---- answers of webhooks

func recordAnswers(each func(func(*line))) {
	var status int
	var contentType, body string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	defer server.Close()
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	manager, err := webhook.NewClientManager(
		[]schema.GroupVersion{admissionv1beta1.SchemeGroupVersion, admissionv1.SchemeGroupVersion},
		admissionv1beta1.AddToScheme, admissionv1.AddToScheme)
	if err != nil {
		log.Fatal(err)
	}
	resolver, err := webhook.NewDefaultAuthenticationInfoResolver("")
	if err != nil {
		log.Fatal(err)
	}
	manager.SetAuthenticationInfoResolver(resolver)
	manager.SetServiceResolver(webhook.NewDefaultServiceResolver())
	names := []string{"tail", "response"}
	each(func(l *line) {
		var answer struct {
			HTTP        int    `json:"http"`
			ContentType string `json:"contentType"`
			Body        string `json:"body"`
		}
		if err := json.Unmarshal(l.values["answer"], &answer); err != nil {
			log.Fatal(err)
		}
		status, contentType, body = answer.HTTP, answer.ContentType, answer.Body
		client, err := manager.HookClient(webhook.ClientConfig{Name: "w", URL: server.URL, CABundle: bundle})
		if err != nil {
			log.Fatal(err)
		}
		var request, response runtime.Object
		if l.has("beta") {
			request = &admissionv1beta1.AdmissionReview{Request: &admissionv1beta1.AdmissionRequest{UID: "u"}}
			response = &admissionv1beta1.AdmissionReview{}
		} else {
			request = &admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{UID: "u"}}
			response = &admissionv1.AdmissionReview{}
		}
		if err := client.Post().Body(request).Do(context.Background()).Into(response); err != nil {
			// A server of a release names the line that makes the scheme; one that is built from modules, as here, names
			// that of NewScheme.
			tail := strings.ReplaceAll(err.Error(), "pkg/runtime/scheme.go:111", "pkg/util/webhook/client.go:74")
			l.answer(names, "tail", "failed to call webhook: "+tail)
			return
		}
		result, err := webhookrequest.VerifyAdmissionResponse("u", l.has("mutating"), response)
		if err != nil {
			l.answer(names, "tail", "received invalid webhook response: "+err.Error())
			return
		}
		l.answer(names, "response", responseOf(result))
	})
}

func responseOf(result *webhookrequest.AdmissionResponse) any {
	out := struct {
		Allowed          bool              `json:"allowed"`
		Patch            string            `json:"patch,omitempty"`
		PatchType        string            `json:"patchType,omitempty"`
		Warnings         []string          `json:"warnings,omitempty"`
		AuditAnnotations map[string]string `json:"auditAnnotations,omitempty"`
		Denial           *metav1.Status    `json:"denial,omitempty"`
	}{Allowed: result.Allowed, Patch: string(result.Patch), PatchType: string(result.PatchType),
		Warnings: result.Warnings, AuditAnnotations: result.AuditAnnotations}
	if !result.Allowed {
		denial := webhookerrors.ToStatusErr("w", result.Result).ErrStatus
		out.Denial = &denial
	}
	return out
}

func main() {
	reader := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	each := func(visit func(*line)) {
		for {
			text, err := reader.ReadBytes('\n')
			if len(bytes.TrimSpace(text)) > 0 {
				l := parse(text)
				visit(&l)
				l.write(out)
			}
			if err != nil {
				return
			}
		}
	}
	switch os.Args[1] {
	case "cel":
		recordCel(each)
	case "json-patch":
		recordPatches(each)
	case "admission-answers":
		recordAnswers(each)
	}
}
