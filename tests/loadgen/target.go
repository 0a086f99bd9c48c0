package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"time"
)

// target is an API server and the credentials for it.
type target struct {
	server, caFile, certFile, keyFile string
	ca, cert, key                     []byte
	token                             string
}

// client sends requests, and counts the connections it has opened for them.
type client struct {
	transport   *http.Transport
	token       string
	connections atomic.Int64
}

// readKubeconfig finds the first value of each key, whether the file is YAML in blocks, in flow style, or JSON. That is
// enough for a kubeconfig with one context, and needs no YAML parser.
func (t *target) readKubeconfig(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	value := func(key string) string {
		found := regexp.MustCompile(`(?m)(?:^|[\s{,"])` + key + `"?:\s*"?([^\s",}]+)`).FindSubmatch(text)
		if found == nil {
			return ""
		}
		return string(found[1])
	}
	t.server = value("server")
	t.caFile, t.certFile, t.keyFile = value("certificate-authority"), value("client-certificate"), value("client-key")
	for key, field := range map[string]*[]byte{
		"certificate-authority-data": &t.ca, "client-certificate-data": &t.cert, "client-key-data": &t.key} {
		if *field, err = base64.StdEncoding.DecodeString(value(key)); err != nil {
			return fmt.Errorf("%s: %s: %w", path, key, err)
		}
	}
	t.token = value("token")
	if file := value("tokenFile"); file != "" {
		token, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		t.token = strings.TrimSpace(string(token))
	}
	return nil
}

func (t *target) connect() (*client, error) {
	address, err := url.Parse(t.server)
	if err != nil {
		return nil, err
	}
	if address.Scheme != "https" || !net.ParseIP(address.Hostname()).IsLoopback() {
		return nil, fmt.Errorf("the server %q is not https on a loopback address; load is for no other", t.server)
	}
	for file, content := range map[string]*[]byte{t.caFile: &t.ca, t.certFile: &t.cert, t.keyFile: &t.key} {
		if file != "" {
			if *content, err = os.ReadFile(file); err != nil {
				return nil, err
			}
		}
	}
	security := &tls.Config{RootCAs: x509.NewCertPool()}
	if !security.RootCAs.AppendCertsFromPEM(t.ca) {
		return nil, errors.New("there is no certificate authority to trust: give -kubeconfig, or -ca")
	}
	if len(t.cert) > 0 {
		pair, err := tls.X509KeyPair(t.cert, t.key)
		if err != nil {
			return nil, err
		}
		security.Certificates = []tls.Certificate{pair}
	}
	result := &client{token: t.token}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	result.transport = &http.Transport{TLSClientConfig: security, ForceAttemptHTTP2: true, DisableCompression: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			result.connections.Add(1)
			return dialer.DialContext(ctx, network, address)
		}}
	return result, nil
}
