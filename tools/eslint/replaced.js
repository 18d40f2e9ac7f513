'use strict'

/*
 * Methods in place of node's that stay: by file, what is replaced → why, with the figure of Node 26 that it is worth,
 * and the functions of node that have to call it, which `make node-duties` compares with those that were read.
 * "n tests" fail or never end without it.
 */

const PIPE = { 'internal/streams/readable': ['Readable.prototype.pipe', 'flow', 'flowSync', 'deliverFlowChunk'] }
const PIPE_TO_WRITABLE = { ...PIPE, 'internal/streams/writable': ['Writable.prototype.write', 'writeKnownBuffer'] }
const DESTROY = { 'internal/streams/destroy': ['destroy', 'errorOrDestroy', 'destroyer'] }

module.exports = {
  'lib/engines/fetch/body-stream.js': {
    'BodyStream.end': {
      why: 'headers that cannot be sent are an error of the call, as of node’s response, and _final() cannot throw: 2 tests',
      node: PIPE_TO_WRITABLE
    }
  },
  'lib/engines/objects/ended.js': {
    'req.destroy': {
      why: 'node’s does nothing for a stream that is marked as read, and the connection has to close: 2 tests',
      node: DESTROY
    }
  },
  'lib/front/node/response.js': {
    'FrontResponse.destroy': {
      why: 'calls of the app: earlier responses are flushed first; 0 tests of test/engines/http1, which makes it a candidate to go',
      node: DESTROY
    },
    'FrontResponse.write': {
      why: 'calls of the app: a view gives what they write to its sink; 0 tests of test/engines/http1, as above',
      node: PIPE
    },
    'FrontResponse.end': { why: 'an end of what the sink has begun, and the front: 2 tests', node: PIPE }
  },
  'lib/front/node/socket.js': {
    'socket.push': {
      why: 'without the Readable’s machinery: 0.93 of the CPU time of a read and a write, 0.28 µs less than a listener for data',
      node: { 'internal/stream_base_commons': ['onStreamRead'] }
    },
    'socket.unshift': {
      why: 'no event shows the bytes that other code puts back: 30 tests',
      node: { 'internal/streams/readable': ['Readable.prototype.unshift'] }
    },
    'socket.setEncoding': {
      why: 'refused, as on a socket of node’s server, before it has an effect: 8 tests',
      node: { 'internal/streams/readable': ['Readable.prototype.setEncoding'] }
    },
    'socket.destroy': {
      why: 'what a tick has written is sent before it, as node has sent it by then: 9 tests',
      node: { ...DESTROY, net: ['Socket.prototype.destroySoon'] }
    },
    'socket.end': {
      why: 'the same: 2 tests',
      node: { net: ['Socket.prototype.end', 'Socket.prototype.destroySoon', 'onReadableStreamEnd'] }
    },
    'socket._final': {
      why: 'no shutdown() before the close() behind a last response: 0.91 of the CPU time of a connection with one request',
      node: {
        net: ['Socket.prototype._final', 'Socket.prototype.destroySoon'],
        'internal/streams/writable': ['prefinish']
      }
    }
  },
  'lib/engines/node/index.js': {
    [`Object.assign(res, {
    write (chunk, ...rest) {
      // @ts-expect-error -- it is res
      this.flushHeaders()
      const done = rest.find(isFunction)
      if (done) nextTick(done)
      return true
    },
    end (...args) {
      return end.call(this, args.find(isFunction))
    }
  })`]: {
      why: 'node’s write() of HTTP/2 fails the response to a HEAD, whose stream it has ended: 3 tests',
      node: PIPE
    }
  },
  'lib/engines/upgrade.js': {
    "Object.defineProperty(server, 'emit', { value: emit, writable: true, configurable: true })": {
      why: 'a listener of upgrade cannot keep a handshake from the others, and node emits none without one: 4 tests',
      node: { _http_server: ['onParserExecuteCommon', 'parserOnIncoming'] }
    }
  },
  'lib/core/file-stream.js': {
    'stream.end': { why: 'no method: where a file stream ends', node: { 'internal/fs/streams': ['ReadStream.prototype._read'] } },
    'stream._read': {
      why: 'into buffers that are used again: a file of 216 KB takes 0.62 of the CPU time, one of 3 MB 0.71',
      node: {
        'internal/streams/readable': ['Readable.prototype.read', 'flowSync'],
        'internal/fs/streams': ['ReadStream.prototype._read']
      }
    },
    'stream._destroy': {
      why: 'node’s waits for no read but its own',
      node: { ...DESTROY, 'internal/fs/streams': ['ReadStream.prototype._destroy', 'ReadStream.prototype.close', 'close'] }
    }
  },
  'lib/core/stream.js': {
    'sink.write': {
      why: 'ctx.res stays what the body is piped into, as in Koa: apps listen for its pipe, and unpipe(ctx.res); a ' +
        'destination between takes 1.06 of the CPU time of a stream of four chunks',
      node: PIPE_TO_WRITABLE
    },
    'sink.end': { why: 'the same', node: PIPE_TO_WRITABLE },
    'Object.assign(sink, { write, end })': { why: 'puts the sink’s own back', node: {} }
  },
  'middleware/isolate/index.js': {
    'message.emit': {
      why: 'node emits events of its request and response outside of the request’s context: 4 tests; 3 ns for an event',
      node: {
        'internal/streams/readable': ['addChunk', 'emitReadable_', 'endReadableNT', 'deliverFlowChunk'],
        'internal/streams/destroy': ['emitErrorNT', 'emitCloseNT']
      }
    }
  },
  'middleware/sse/index.js': {
    'EventStream.read': {
      why: 'no event shows that the queue is half empty, for drain: a test never ends',
      node: { 'internal/streams/readable': ['Readable.prototype.read', 'flow', 'flowSync', 'resume_'] }
    }
  }
}
