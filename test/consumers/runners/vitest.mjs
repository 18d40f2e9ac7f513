import { it } from 'vitest'
import cases from './cases.js'

cases((title, { skip }, fn) => (skip ? it.skip : it)(title, fn))
