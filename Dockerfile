# The demo in a container:
#     docker build -t fuzzymil .
#     docker run --rm -v "$PWD/demo:/demo" fuzzymil
# Any other command works on the files of a folder:
#     docker run --rm -v "$PWD:/work" -w /work fuzzymil fit data.csv --bag user --label converted
FROM python:3.13-slim

COPY pyproject.toml README.md LICENSE /source/
COPY src /source/src
# To train networks, too: docker build --build-arg EXTRAS="[train]" -t fuzzymil .
ARG EXTRAS=""
RUN pip install --no-cache-dir "/source${EXTRAS}" && rm -r /source

# Nobody needs to be root to learn rules; a mounted folder belongs to whoever runs the container (docker run --user).
RUN useradd --create-home fuzzymil && mkdir /demo && chown fuzzymil /demo
USER fuzzymil
WORKDIR /demo
ENTRYPOINT ["fuzzymil"]
CMD ["demo", "--output", "/demo"]
