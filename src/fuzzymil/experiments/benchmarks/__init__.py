"""MI-ANFIS and Naive-ANFIS on the five benchmark datasets."""
