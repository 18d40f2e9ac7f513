// `kone dev` and `kone routes` of a TypeScript app on a Node that does not strip types: the project's
// own typescript does. Loaded by --import.
import { register } from 'node:module'

register('./typescript-hooks.mjs', import.meta.url, { data: { typescript: process.env.KONE_TYPESCRIPT } })
