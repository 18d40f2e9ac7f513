'use strict'

/**
 * The class under test: kone, kone with bluebird (`KONE_PROMISE=bluebird`), or any package that
 * claims to be Koa (`KONE_CLASS=koa`), which shows whether a test states Koa's behaviour.
 */

const { KONE_CLASS, KONE_PROMISE } = process.env

module.exports = require(KONE_CLASS || (KONE_PROMISE === 'bluebird' ? 'kone/bluebird' : 'kone'))
