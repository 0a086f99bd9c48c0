//go:build tools

// What is built from the module that go.mod pins: the one program of External Secrets.
package operators

import _ "github.com/external-secrets/external-secrets"
