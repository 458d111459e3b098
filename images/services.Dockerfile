# PostgreSQL and Redis from Debian's own packages, for places without a registry. They take the settings that compose.yaml
# gives the public images, and keep data in the same places.
#
#   docker build -f images/services.Dockerfile --target postgres -t grader-postgres images
#   docker build -f images/services.Dockerfile --target redis    -t grader-redis    images
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS services
LABEL org.opencontainers.image.vendor="kernel-grader"
# start-postgres makes the cluster: the package shall make none.
RUN apt-get update -q && mkdir -p /usr/share/man/man1 /usr/share/man/man7 \
    && apt-get install -y -q --no-install-recommends postgresql-common \
    && sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf \
    && apt-get install -y -q --no-install-recommends postgresql redis-server \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/lib/postgresql/*

FROM services AS postgres
COPY start-postgres /usr/local/bin/
RUN mkdir -p /var/lib/postgresql/data && chown postgres:postgres /var/lib/postgresql/data /var/run/postgresql
USER postgres
ENV PGDATA=/var/lib/postgresql/data/own
VOLUME /var/lib/postgresql/data
EXPOSE 5432
CMD ["start-postgres"]

FROM services AS redis
RUN mkdir /data && chown redis:redis /data
USER redis
WORKDIR /data
VOLUME /data
EXPOSE 6379
CMD ["redis-server"]
