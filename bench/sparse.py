"""Time and memory of rules about documents: bags of sentences with sparse features.

    python bench/sparse.py [--bags 2000] [--sentences 20000] [--words 5000]

Half of the documents have a sentence with a word that the others rarely have. The features are TF-IDF weights, about
12 words per sentence. Prints seconds and the peak of the process's memory after each step, as JSON.
"""

from __future__ import annotations

import argparse
import json
import resource
import time

import numpy as np
from scipy import sparse

from fuzzymil import RuleClassifier


def documents(n_bags: int, n_sentences: int, n_words: int) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """Return counts of words (sentences, words), the document of each sentence, and the labels of documents."""
    rng = np.random.default_rng(0)
    owner = np.sort(np.append(np.arange(n_bags), rng.integers(0, n_bags, n_sentences - n_bags)))
    labels = np.arange(n_bags) % 2
    chance = 1.0 / (np.arange(n_words) + 20)
    words = rng.choice(n_words, (n_sentences, 12), p=chance / chance.sum())
    first = np.searchsorted(owner, np.flatnonzero(labels))
    words[first, 0] = 40  # a word of one sentence in every positive document
    rows = np.repeat(np.arange(n_sentences), 12)
    counts = sparse.csr_array((np.ones(rows.size), (rows, words.ravel())), shape=(n_sentences, n_words))
    return counts, owner, labels


def memory() -> float:
    """Return the peak of this process's memory in MB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 0)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bags", type=int, default=2000)
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--words", type=int, default=5000)
    options = parser.parse_args()
    counts, owner, labels = documents(options.bags, options.sentences, options.words)
    from sklearn.feature_extraction.text import TfidfTransformer

    from fuzzymil import Bags

    x = TfidfTransformer().fit_transform(counts)
    bags = Bags.from_long(x, owner, labels=labels[owner])
    found: dict[str, object] = {
        **vars(options),
        "nonzero": int(x.nnz),
        "dense_MB": round(8e-6 * x.shape[0] * x.shape[1]),
    }
    found["start_MB"] = memory()
    train, test = bags[np.arange(len(bags)) % 4 < 2], bags[np.arange(len(bags)) % 4 >= 2]
    start = time.perf_counter()
    model = RuleClassifier(random_state=0).fit(bags)
    found["fit_seconds"], found["fit_MB"] = round(time.perf_counter() - start, 1), memory()
    start = time.perf_counter()
    found["accuracy"] = float(np.mean(model.predict(bags) == bags.labels))
    found["predict_seconds"], found["predict_MB"] = round(time.perf_counter() - start, 1), memory()
    held_out = RuleClassifier(random_state=0).fit(train)
    found["held_out_accuracy"] = float(np.mean(held_out.predict(test) == test.labels))
    print(json.dumps(found, indent=1))
    print(model.rules_)


if __name__ == "__main__":
    main()
