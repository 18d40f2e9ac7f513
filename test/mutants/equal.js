'use strict'

/**
 * File → mutants that no test of the behaviour can notice: the line, `to` if only one replacement is meant, and why.
 */
module.exports = {
  'lib/front/input/parser.js': [
    {
      line: 'const KEEP_ALIVE = / *keep-alive\\r/iy',
      why: 'it saves time alone: what it does not match is compared member by member'
    },
    { line: 'KEEP_ALIVE.lastIndex = i + 11', why: 'the same: what ends 11 bytes before the value is not "keep-alive" CR' },
    { line: 'if (KEEP_ALIVE.test(text)) {', why: 'the same' },
    { line: "const found = { method: '', url: '', section: null }", why: 'it is read after a parse() that has set all of it' },
    {
      line: 'if (end - at < maxSize && text.slice(fields, end) === previous.text) {',
      to: 'end - at <= maxSize',
      why: 'the size as node counts it is smaller, because separators do not count'
    },
    {
      line: 'if (end - at >= maxSize && weight(text, target, fields, end) >= maxSize) return UNSUPPORTED',
      why: 'the first comparison saves time alone: the size as node counts it is never larger than the section'
    },
    {
      line: 'if (end - fields > maxFields * SHORTEST_FIELD && count(text, fields, end) > maxFields) return UNSUPPORTED',
      why: 'the first comparison saves time alone: a shorter section cannot hold more fields'
    },
    { line: "const SHORTEST_FIELD = 'a:\\r\\n'.length", why: 'it is for the first comparison alone' },
    {
      line: "if (text.startsWith('GET /', at)) found.method = 'GET' // a constant, because V8 compares its characters without a call",
      why: 'it saves time alone: the loop finds the same'
    },
    { line: 'if (!previous.repeats) previous.repeat()', to: 'true', why: 'it saves time alone: the second call changes nothing' },
    {
      line: 'if (count === 0 || text.charCodeAt(i) !== CR || number > Number.MAX_SAFE_INTEGER) return UNSUPPORTED',
      to: 'number >= Number.MAX_SAFE_INTEGER',
      why: 'the sum before the last subtraction is rounded, so that the number is never this one'
    }
  ],
  'lib/respond.js': [
    { line: "if (typeof body === 'object' && body !== null) {", why: 'it saves time alone: toStream() returns undefined for other bodies' }
  ],
  'lib/front/output/pieces.js': [
    {
      line: "[undefined, UTF8], [null, UTF8], ['utf8', UTF8], ['utf-8', UTF8],",
      why: 'it saves a copy alone: a text of another encoding is added as bytes'
    },
    { line: "['latin1', LATIN1], ['binary', LATIN1], ['ascii', LATIN1]", why: 'the same' },
    {
      line: 'else this.addText(data, Buffer.byteLength(data) === data.length ? ASCII : known)',
      to: 'false',
      why: 'ASCII has the same bytes in the encoding that was named; the others of a write are joined with it more seldom'
    },
    {
      line: 'buffers.unshift(items[i + 1] === null ? items[i] : Buffer.from(items[i], items[i + 1]))',
      to: 'false',
      why: 'it saves a copy alone'
    },
    {
      line: "return items === null || (this.text === '' && (items.length === 2 || (items.length === 4 && items[1] !== null && items[3] === null)))",
      to: 'true',
      why: 'items end with bytes where no text is after them'
    }
  ],
  'lib/front/output/responses.js': [
    {
      line: 'this.isAsync = socket.encrypted === true // TLS never writes at once',
      why: 'it saves an empty write alone: the callback of either write is called when all bytes were flushed'
    },
    {
      line: 'get isBlocked () { return this.socket.writableNeedDrain && this.socket.writableLength > 0 }',
      why: "it saves time alone: behind an empty buffer 'drain' comes in the same tick, and with it what was queued"
    },
    {
      line: 'return !this.socket.writable && !this.hasUnflushed && this.first !== null && this.first.writableEnded',
      to: 'true',
      why: 'it is read only while a response is pending, so that there is a first one if none is unflushed'
    },
    {
      line: 'return writableNeedDrain || this.queuedBytes >= Math.max(1, writableHighWaterMark) // the mark may be 0',
      to: 'this.queuedBytes > Math.max(1, writableHighWaterMark)',
      why: 'one byte more is no other limit of memory'
    },
    { line: 'if (this.first !== null) this.advance() // responses after a streamed one', why: 'it saves time alone: advance() looks, too' },
    {
      line: 'if (bytes < 0) this.connection.onUnqueued()',
      to: 'true',
      why: 'it saves time alone: reading goes on only if few bytes are queued'
    },
    { line: 'if (bytes < 0) this.connection.onUnqueued()', to: 'bytes <= 0', why: 'the same' },
    { line: 'if (this.first === null) this.last = null', to: 'false', why: 'it frees memory alone: last is read only behind a first one' },
    {
      line: 'if (this.batch.size >= this.socket.writableHighWaterMark) this.writeBatch()',
      to: 'this.batch.size > this.socket.writableHighWaterMark',
      why: 'one byte more is no other limit of memory'
    },
    { line: "if (text !== '') this.batch.addText(text, encoding)", why: 'it saves time alone: no text adds no bytes' },
    { line: 'if (this.isScheduled) return', why: 'it saves time alone: the second call of a tick finds nothing to write' },
    { line: 'this.isScheduled = true', why: 'the same' },
    {
      line: 'if (this.flushing === null && this.delayed !== null) this.connection.onFirst(this.delayed)',
      to: 'true',
      why: 'it saves time alone: the response waits again while others are not flushed'
    }
  ],
  'lib/front/output/parts.js': [
    { line: 'this.isDue = false // a tick has passed: node would have written these', why: 'undefined is falsy, too; the one of send() is killed' },
    {
      line: 'this.isDue ||= isDue',
      why: 'it is for Node 26, which keeps pieces itself: before it such a piece is the last one, and sent in the same tick'
    },
    { line: 'if (this.isScheduled) return', why: 'it saves time alone: the later call of a tick finds nothing to send' },
    { line: 'this.isScheduled = true', why: 'the same' },
    { line: 'if (this.isEmpty) return', why: 'it saves time alone: no pieces are no write' }
  ],
  'lib/shared/error-path.js': [
    { line: 'if (before !== this.before) {', to: 'true', why: 'it saves time alone: the list is the same' }
  ],
  'lib/engines/field-names.js': [
    { line: "this.lastLine = ''    //   and its line, once it was set again", why: 'accepts() sets it with the first value' },
    {
      // eslint-disable-next-line no-template-curly-in-string
      line: "if (this.lastLine === '') this.lastLine = detach(`${this.text}: ${value}\\r\\n`)",
      to: 'true',
      why: 'it saves time alone: the line is the same'
    },
    { line: "if (value === this.last && this.lastLine !== '') return this.lastLine", to: 'false', why: 'the same' },
    { line: 'if (names.size >= MAX_NAMES || name.length > LONGEST_NAME) return new FieldName(name)', why: 'one name more is no other limit of memory' }
  ],
  'lib/front/output/writer.js': [
    { line: "if (body === undefined || body === null || body === '') return 0", why: 'it saves time alone: the length of "" is 0' },
    { line: 'const usual = []', why: 'no status is 0' },
    {
      // eslint-disable-next-line no-template-curly-in-string
      line: 'let text = usual[status]?.phrase === phrase ? usual[status].line : `HTTP/1.1 ${status} ${phrase}\\r\\n`',
      to: 'false',
      why: 'it saves time alone: the line is the same'
    },
    {
      line: 'if (usual[status] === undefined && phrase === STATUS_CODES[status]) usual[status] = { phrase, line: text }',
      why: 'what is remembered is the line of this phrase, whichever it is'
    },
    { line: "let closing = ''", why: 'now() empties it before it is read, because there is no date yet' },
    { line: "let keeping = ''", why: 'the same' },
    { line: 'let keepingTimeout = -1', why: 'it is compared only with a line that was made, and with it set' },
    { line: "if (date === '') now()", why: 'it saves time and timers alone: the date is the same' },
    { line: "if (keeping === '' || timeout !== keepingTimeout) {", to: 'true', why: 'it saves time alone: the line is the same' }
  ],
  // Of the sample of matrix.js:
  'lib/front/input/headers.js': [
    { line: 'this.namesHost = namesHost', why: 'it saves time alone: otherwise ctx.request checks Host' }
  ],
  'lib/front/input/held.js': [
    {
      line: 'if (this.reads.length < MOST_READS || chunk.length > SMALL / 2) this.append(chunk)',
      to: '>=',
      why: 'one byte more is no other limit of memory'
    }
  ],
  'lib/front/node/response.js': [
    { line: 'if (kNeedDrain !== undefined) res[kNeedDrain] = needs', to: 'true', why: 'every supported Node has the symbol' }
  ],
  'middleware/overload/queue.js': [
    {
      line: 'this.starts = this.lookedSince - this.startedAt < SHORT ? Math.min(this.starts * 2, MOST_STARTS) : 1',
      to: '<=',
      why: 'one moment more is no other limit of time'
    }
  ],
  'middleware/validate/lists.js': [
    { line: 'if (single.length === 0) return refused', to: 'false', why: 'it saves time alone: another validation refuses the same' }
  ]
}
