// What Node 20 and 22 before 22.15 call in a thread of their own for `import`. Loaded by index.js.
import { createRequire } from 'node:module'

const { Replacement } = createRequire(import.meta.url)('./replacement.js')

let replacement

export function initialize (shared) {
  replacement = new Replacement(shared)
}

export async function resolve (specifier, context, next) {
  return replacement.ofImport(await next(specifier, context))
}
