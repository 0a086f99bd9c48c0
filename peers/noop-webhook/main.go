// A validating webhook on controller-runtime that allows everything: what Fairlead's server is measured beside.
package main

import (
	"context"
	"flag"
	"log"
	"os/signal"
	"syscall"

	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func main() {
	port := flag.Int("port", 9443, "port for reviews")
	certDir := flag.String("cert-dir", "", "folder with tls.crt and tls.key")
	path := flag.String("path", "/validate", "path of the webhook")
	flag.Parse()
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: *port, CertDir: *certDir})
	server.Register(*path, &admission.Webhook{
		Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
			return admission.Allowed("")
		}),
	})
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := server.Start(ctx); err != nil {
		log.Fatal(err)
	}
}
