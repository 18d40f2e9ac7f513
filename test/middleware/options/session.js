'use strict'

const session = require('kone/middleware/session')
const { STRINGS, TEXTS, BOOLEANS, FUNCTIONS } = require('./values')

module.exports = {
  make: options => session(options),
  options: {
    key: TEXTS,
    store: [5, 'redis', {}, { get () {}, set () {} }],
    cookie: [5, 'a', []],
    'cookie.maxAge': ['1d', -1, NaN],
    'cookie.path': [5],
    'cookie.domain': [5],
    'cookie.httpOnly': BOOLEANS,
    'cookie.sameSite': [5, 'maybe'],
    'cookie.secure': BOOLEANS,
    'cookie.signed': BOOLEANS,
    rolling: BOOLEANS,
    renew: BOOLEANS,
    maxAge: ['1d', -1, NaN, null], // of koa-session, from here on
    path: STRINGS,
    domain: STRINGS,
    httpOnly: BOOLEANS,
    secure: BOOLEANS,
    sameSite: [5, 'maybe'],
    signed: BOOLEANS,
    priority: [5, 'maybe', null],
    partitioned: BOOLEANS,
    overwrite: [false, 'yes'],
    autoCommit: [false, 'yes'],
    encode: [JSON.stringify],
    decode: [JSON.parse],
    lazy: BOOLEANS,
    genid: FUNCTIONS,
    prefix: ['sess:'],
    externalKey: [{}],
    ContextStore: [class {}],
    valid: FUNCTIONS,
    beforeSave: FUNCTIONS
  }
}
