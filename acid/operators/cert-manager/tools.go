//go:build tools

// What is built from the module that go.mod pins: the four programs of cert-manager.
package operators

import (
	_ "github.com/cert-manager/cert-manager/cmd/cainjector"
	_ "github.com/cert-manager/cert-manager/cmd/controller"
	_ "github.com/cert-manager/cert-manager/cmd/ctl"
	_ "github.com/cert-manager/cert-manager/cmd/webhook"
)
