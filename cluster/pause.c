/* Waits for a signal to end, and reaps what it inherits meanwhile. PID 1 of the cluster's namespaces, and the sandbox
 * container of every pod. */
#include <signal.h>
#include <sys/wait.h>

int main(void) {
    sigset_t expected;
    sigemptyset(&expected);
    sigaddset(&expected, SIGCHLD);
    sigaddset(&expected, SIGINT);
    sigaddset(&expected, SIGTERM);
    sigprocmask(SIG_BLOCK, &expected, 0);
    for (;;) {
        int signal = 0;
        sigwait(&expected, &signal);
        if (signal != SIGCHLD) return 0;
        while (waitpid(-1, 0, WNOHANG) > 0) {
        }
    }
}
