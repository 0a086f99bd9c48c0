// The admission webhooks of VictoriaMetrics' operator, from its api module, served as the operator serves them: by a
// controller-runtime manager whose readiness says nothing about its webhooks. There is no controller behind them.
package main

import (
	"fmt"
	"os"

	victoria "github.com/VictoriaMetrics/operator/api/operator/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

type guarded interface {
	SetupWebhookWithManager(ctrl.Manager) error
}

func serve() error {
	ctrl.SetLogger(zap.New())
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := victoria.AddToScheme(scheme); err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 scheme,
		HealthProbeBindAddress: ":8081",
		WebhookServer:          webhook.NewServer(webhook.Options{Port: 9443, CertDir: "/certs"}),
	})
	if err != nil {
		return err
	}
	if err := manager.AddReadyzCheck("ready", healthz.Ping); err != nil {
		return err
	}
	kinds := []guarded{&victoria.VMAgent{}, &victoria.VMAlert{}, &victoria.VMAlertmanager{}, &victoria.VMAlertmanagerConfig{},
		&victoria.VMAuth{}, &victoria.VMCluster{}, &victoria.VMRule{}, &victoria.VMSingle{}, &victoria.VMUser{}}
	for _, kind := range kinds {
		if err := kind.SetupWebhookWithManager(manager); err != nil {
			return err
		}
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
