/* What code in C needs to join the instances of a bag (of the numbers v[0], v[step], v[2 * step], ...), and to turn a
   set into a number. Each function is copied if it is used. */

static double greatest(const double *v, size_t n, size_t step, double alpha) {
    double found = v[0];
    (void)alpha;
    for (size_t i = 0; i < n; i++) found = fmax(found, v[i * step]);
    return found;
}

static double least(const double *v, size_t n, size_t step, double alpha) {
    double found = v[0];
    (void)alpha;
    for (size_t i = 0; i < n; i++) found = fmin(found, v[i * step]);
    return found;
}

static double mean(const double *v, size_t n, size_t step, double alpha) {
    double found = 0.0;
    (void)alpha;
    for (size_t i = 0; i < n; i++) found = found + v[i * step];
    return found / (double)n;
}

static double any_of(const double *v, size_t n, size_t step, double alpha) {
    double found = 1.0;
    (void)alpha;
    for (size_t i = 0; i < n; i++) found = found * (1 - v[i * step]);
    return 1 - found;
}

static double sum_of(const double *v, size_t n, size_t step, double alpha) {
    double found = 0.0;
    (void)alpha;
    for (size_t i = 0; i < n; i++) found = found + v[i * step];
    return fmin(found, 1.0);
}

static double soft(const double *v, size_t n, size_t step, double alpha) {
    double top = -HUGE_VAL, total = 0.0, weights = 0.0;
    for (size_t i = 0; i < n; i++) top = fmax(top, alpha * v[i * step]);
    for (size_t i = 0; i < n; i++) {
        double weight = exp(alpha * v[i * step] - top);
        total += weight * v[i * step];
        weights += weight;
    }
    return total / weights;
}

static double at_least(const double *v, size_t n, size_t step, double count) {
    double below = HUGE_VAL;
    if ((double)n < count) return 0.0;
    for (;;) {
        double top = -HUGE_VAL;
        for (size_t i = 0; i < n; i++) if (v[i * step] < below) top = fmax(top, v[i * step]);
        for (size_t i = 0; i < n; i++) if (v[i * step] == top) count -= 1;
        if (count <= 0) return top;
        if (top == -HUGE_VAL) return NAN;
        below = top;
    }
}

static double centroid(const double *y, const double *mu, int n, int points) {
    double total = 0.0, moment = 0.0;
    (void)points;
    for (int k = 0; k < n; k++) { total += mu[k]; moment += y[k] * mu[k]; }
    return moment / total;
}

static double bisector(const double *y, const double *mu, int n, int points) {
    double total = 0.0, left = 0.0;
    for (int k = 0; k < n; k++) total += mu[k];
    for (int k = 0; k < n; left += mu[k], k++) {
        if (points && left + mu[k] >= total / 2) return y[k];
        if (!points && left + mu[k] > total / 2) return y[k] + (y[1] - y[0]) * ((total / 2 - left) / mu[k] - 0.5);
        if (!points && left + mu[k] == total / 2) {
            int after = k + 1;
            while (mu[after] == 0) after++;
            return (y[k] + y[after]) / 2;
        }
    }
    return y[n - 1];
}

static double mom(const double *y, const double *mu, int n, int points) {
    double top = 0.0, total = 0.0, count = 0.0;
    (void)points;
    for (int k = 0; k < n; k++) top = fmax(top, mu[k]);
    for (int k = 0; k < n; k++) if (mu[k] == top) { total += y[k]; count += 1; }
    return total / count;
}

static double som(const double *y, const double *mu, int n, int points) {
    int found = 0;
    (void)points;
    for (int k = 1; k < n; k++) if (mu[k] > mu[found]) found = k;
    return y[found];
}

static double lom(const double *y, const double *mu, int n, int points) {
    int found = 0;
    (void)points;
    for (int k = 1; k < n; k++) if (mu[k] >= mu[found]) found = k;
    return y[found];
}
