/* global it */
'use strict'

require('./cases')((title, { skip }, fn) => (skip ? it.skip : it)(title, fn))
