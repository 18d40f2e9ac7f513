'use strict'

/*
 * The middleware that kone has beyond those of its first report, each alone.
 */

const hello = { type: 'text/plain; charset=utf-8', body: 'Hello World' }

/** The request that each gets, and the response that is expected. */
exports.FURTHER = {
  'compress alone': {
    request: { headers: { 'accept-encoding': 'gzip' } },
    expected: { type: hello.type, body: (body, headers) => headers['content-encoding'] === 'gzip' && body.length > 50 }
  },
  'conditionalGet alone': { request: { headers: { 'if-none-match': '"earlier"' } }, expected: hello },
  'etag alone': { expected: { ...hello, body: (body, { etag }) => body === hello.body && etag !== undefined } },
  'rateLimit alone': { expected: hello },
  'requestId alone': { expected: { type: hello.type, body: body => body.length === 36 } },
  'upload alone': {
    request: { method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=limit' }, body: multipart('x'.repeat(1000)) },
    expected: { type: hello.type, body: '1000' }
  },
  'health alone': { expected: hello },
  'isolate alone': { expected: hello },
  'metrics alone': { expected: hello },
  'sse alone': { expected: { type: 'text/event-stream; charset=utf-8', body: 'data: Hello World\n\n' } },
  'timeout alone': { expected: hello },
  'validate alone': { request: { path: '/?page=3' }, expected: { type: hello.type, body: '3' } }
}

/** Those for which Koa's users have no package that is commonly used: they are measured on kone alone. */
exports.WITHOUT_TWIN = new Set(['health', 'isolate', 'metrics', 'sse', 'timeout', 'validate'].map(name => `${name} alone`))

// A form with one file.
function multipart (content) {
  const part = 'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain'
  return `--limit\r\n${part}\r\n\r\n${content}\r\n--limit--\r\n`
}
