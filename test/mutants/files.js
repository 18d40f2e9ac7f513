'use strict'

/** File → the tests that run for each of its mutants: fast ones, the most likely killer first. */
module.exports = {
  'lib/compose.js': ['test/compose/compose.test.js', 'test/application/compose-option.test.js'],
  'lib/respond.js': [
    'test/response/wire.test.js', 'test/response/body.test.js', 'test/compat/engines.test.js'
  ],
  'lib/front/input/parser.js': ['test/engines/http1/parser.test.js'],
  'lib/front/output/pieces.js': ['test/engines/http1/pieces.test.js'],
  'lib/front/output/responses.js': [
    'test/engines/http1/output.model.test.js', 'test/engines/http1/batch.test.js', 'test/engines/http1/server.test.js',
    'test/engines/http1/unread.test.js', 'test/engines/http1/late-body.test.js', 'test/engines/http1/small.test.js',
    'test/engines/http1/differences.test.js', 'test/engines/http1/notified.test.js'
  ],
  'lib/front/output/parts.js': [
    'test/engines/http1/late-body.test.js', 'test/engines/http1/write-callbacks.test.js', 'test/engines/http1/sink.test.js',
    'test/engines/http1/unread.test.js'
  ],
  'lib/front/output/sink.js': [
    'test/engines/http1/sink.test.js', 'test/engines/http1/fast-path.test.js', 'test/engines/contract.test.js'
  ],
  'lib/shared/error-path.js': ['test/middleware/report.test.js', 'test/middleware/error-headers.test.js'],
  'lib/engines/field-names.js': ['test/engines/http1/fields.test.js'],
  'lib/front/output/writer.js': ['test/engines/http1/fields.test.js']
}
