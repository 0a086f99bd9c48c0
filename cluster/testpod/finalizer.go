package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount/"

// apiServer is the pod's own way to the API, with the rights of its ServiceAccount.
type apiServer struct {
	client *http.Client
	base   string
}

func ownCluster() apiServer {
	pem, err := os.ReadFile(serviceAccount + "ca.crt")
	if err != nil {
		log.Fatal(err)
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(pem)
	address := net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"))
	return apiServer{base: "https://" + address,
		client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authorities}}}}
}

func (s apiServer) do(method, path string, body []byte) (*http.Response, error) {
	request, err := http.NewRequest(method, s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	token, err := os.ReadFile(serviceAccount + "token")
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+string(token))
	request.Header.Set("Content-Type", "application/merge-patch+json")
	answer, err := s.client.Do(request)
	if err == nil && answer.StatusCode >= 300 {
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, text)
	}
	return answer, err
}

// finalize is an operator: it watches custom resources, and of those that are being deleted it removes the finalizers once it
// has cleaned up, which takes its time.
func finalize(path string, takes time.Duration) {
	cluster := ownCluster()
	for {
		if err := watchOnce(cluster, path, takes); err != nil {
			log.Print(err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// watchOnce follows one watch to its end. Without a version, it begins with what there is.
func watchOnce(cluster apiServer, path string, takes time.Duration) error {
	answer, err := cluster.do("GET", path+"?watch=true&timeoutSeconds=300", nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	events := json.NewDecoder(answer.Body)
	for {
		var event struct {
			Object struct {
				Metadata struct {
					Name, Namespace   string
					DeletionTimestamp string
					Finalizers        []string
				}
			}
		}
		if err := events.Decode(&event); err != nil {
			return err
		}
		if one := event.Object.Metadata; one.DeletionTimestamp != "" && len(one.Finalizers) > 0 {
			go func() {
				time.Sleep(takes)
				group, plural := path[:strings.LastIndex(path, "/")], path[strings.LastIndex(path, "/"):]
				place := group + "/namespaces/" + one.Namespace + plural + "/" + one.Name
				answer, err := cluster.do("PATCH", place, []byte(`{"metadata":{"finalizers":null}}`))
				if err != nil {
					log.Print(err)
					return
				}
				answer.Body.Close()
			}()
		}
	}
}
