# docker build -t morphtrack . && docker run --rm -v "$PWD/results:/morphtrack/results" morphtrack
# The packages are those of requirements.lock, as on any machine.
FROM python:3.12-bookworm
WORKDIR /morphtrack
COPY . .
RUN make setup
ENV PATH="/morphtrack/.venv/bin:$PATH"
CMD ["make", "demo"]
