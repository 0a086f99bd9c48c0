module fairlead.dev/sdk/generate

go 1.26

// tests/pulumi/main.py adds the modules that it needs in turn.
require github.com/pulumi/pulumi/pkg/v3 v3.259.0
