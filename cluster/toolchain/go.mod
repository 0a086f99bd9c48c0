// The Go toolchain that is fetched where the machine's own is too old. No other file needs it: a Go as old as 1.19 reads
// this one, downloads the toolchain as a module, and go.sum vouches for it.
module fairlead.dev/cluster/toolchain

go 1.19

require golang.org/toolchain v0.0.1-go1.26.8.linux-amd64
