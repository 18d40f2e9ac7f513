// What path-to-regexp makes of a path, at the level of types; for 6.3:
//
//     '/users/:id/posts/:post?'     { id: string, post?: string }
//     '/files/(.*)'                 { 0?: string }
//     '/:year(\\d{4}){-:month}?'    { year: string, month?: string }
//
// A parameter that may be missing, or that may match nothing (`(.*)`), is optional: the router leaves
// out what is empty. A repeated one (`:path+`) is one string with its slashes.

/**
 * The parameters of a path, by path-to-regexp 6.3 or 8. Of text that is not known, of a RegExp: any name,
 * maybe there.
 */
export type PathParams<P, SyntaxT = 6> =
  Join<P extends string ? [SyntaxT] extends [8] ? OfEight<P> : OfText<P> : Unknown>

/** The parameters of any one of several paths. */
type Join<T> = [AllKeys<T>] extends [keyof T]
  ? T
  : Flat<Pick<T, keyof T> & { [K in Exclude<AllKeys<T>, keyof T>]?: string }>

type AllKeys<T> = T extends unknown ? keyof T : never

interface Unknown {
  [name: string]: string | undefined
}

type OfText<P extends string> = string extends P
  ? Unknown
  : P extends `${string}${':' | '('}${string}` ? Text<P> : {}

// All that follows walks over the path once and is tail-recursive (TypeScript allows 1000 steps of that).
// `R` are the names found so far that are required, `O` the optional ones, `N` counts the unnamed groups.
//
// A name between slashes is taken at one go, and only once for all paths that have it: WordOf<'id'> is
// remembered. What has anything else is walked over character by character.

type Text<
  S extends string, R extends PropertyKey = never, O extends PropertyKey = never, N extends 0[] = []
> =
  S extends `${infer Before}:${infer Rest}`
    ? Before extends `${string}${'(' | '{' | '\\'}${string}` ? Slow<S, R, O, N>
      : Rest extends `${infer Segment}/${infer After}`
        ? Segment extends WordOf<Segment> ? Text<After, R | Segment, O, N> : Name<Rest, '', '', R, O, N>
        : Rest extends WordOf<Rest> ? Params<R | Rest, O> : Name<Rest, '', '', R, O, N>
    : S extends `${string}(${string}` ? Slow<S, R, O, N> : Params<R, O>

/** The characters of a name that a text begins with. */
type WordOf<S extends string, Text extends string = ''> =
  S extends `${infer C}${infer Rest}`
    ? C extends NameCharacter ? WordOf<Rest, `${Text}${C}`> : Text
    : Text

type Slow<S extends string, R extends PropertyKey, O extends PropertyKey, N extends 0[]> =
  S extends `${infer C}${infer Rest}`
    ? C extends ':' ? Name<Rest, '', '', R, O, N>
      : C extends '(' ? Pattern<Rest, [], '', '', '', R, O, N>
        : C extends '{' ? Group<Rest, R, O, N>
          : C extends '\\' ? Rest extends `${string}${infer After}` ? Slow<After, R, O, N> : Params<R, O>
            : Slow<Rest, R, O, N>
    : Params<R, O>

// `{prefix:name(pattern)suffix}`, the text before the name or the pattern
type Group<S extends string, R extends PropertyKey, O extends PropertyKey, N extends 0[]> =
  S extends `${infer C}${infer Rest}`
    ? C extends ':' ? Name<Rest, '', '}', R, O, N>
      : C extends '(' ? Pattern<Rest, [], '', '', '}', R, O, N>
        : C extends '}' ? Text<Rest, R, O, N>
          : C extends '\\' ? Rest extends `${string}${infer After}` ? Group<After, R, O, N> : Params<R, O>
            : Group<Rest, R, O, N>
    : Params<R, O>

// `End` is '}' within braces, where the modifier stands behind them
type Name<
  S extends string, Text extends string, End extends string,
  R extends PropertyKey, O extends PropertyKey, N extends 0[]
> =
  S extends `${infer C}${infer Rest}`
    ? C extends NameCharacter ? Name<Rest, `${Text}${C}`, End, R, O, N>
      : C extends '(' ? Pattern<Rest, [], '', Text, End, R, O, N>
        : Close<S, Text, false, End, R, O, N>
    : Close<S, Text, false, End, R, O, N>

// up to the parenthesis that closes it; `Depth` has an element for each that is open within
type Pattern<
  S extends string, Depth extends 0[], Text extends string, Key extends string, End extends string,
  R extends PropertyKey, O extends PropertyKey, N extends 0[]
> =
  S extends `${infer C}${infer Rest}`
    ? C extends '\\'
      ? Rest extends `${infer Escaped}${infer After}`
        ? Pattern<After, Depth, `${Text}\\${Escaped}`, Key, End, R, O, N>
        : Params<R, O>
      : C extends '(' ? Pattern<Rest, [...Depth, 0], `${Text}(`, Key, End, R, O, N>
        : C extends ')'
          ? Depth extends [0, ...infer Outer extends 0[]]
            ? Pattern<Rest, Outer, `${Text})`, Key, End, R, O, N>
            : Key extends ''
              ? Close<Rest, N['length'], MayBeEmpty<Text>, End, R, O, [...N, 0]>
              : Close<Rest, Key, MayBeEmpty<Text>, End, R, O, N>
          : Pattern<Rest, Depth, `${Text}${C}`, Key, End, R, O, N>
    : Params<R, O>

// what is left of braces, then the modifier
type Close<
  S extends string, Key extends PropertyKey, Empty extends boolean, End extends string,
  R extends PropertyKey, O extends PropertyKey, N extends 0[]
> =
  End extends '}'
    ? S extends `\\${infer Escaped}${infer Rest}` ? Close<DropFirst<`${Escaped}${Rest}`>, Key, Empty, End, R, O, N>
      : S extends `}${infer Rest}` ? Close<Rest, Key, Empty, '', R, O, N>
        : S extends `${string}${infer Rest}` ? Close<Rest, Key, Empty, End, R, O, N>
          : Params<R, O>
    : S extends `${'?' | '*'}${infer Rest}` ? Text<Rest, R, O | Key, N>
      : Empty extends true ? Text<S, R, O | Key, N>
        : Text<S, R | Key, O, N>

// The same for path-to-regexp 8: `{…}` may be missing, and be within another (`Depth` has an element for each
// that is open); `*name` is a wildcard; a name is of any script, or in quotes.

type OfEight<P extends string> = string extends P
  ? Unknown
  : P extends `${string}${'{' | '*' | '\\'}${string}` ? Eight<P, []> : OnlyParams<P>

// of names between slashes, as Text above
type OnlyParams<S extends string, R extends PropertyKey = never> =
  S extends `${string}:${infer Rest}`
    ? Rest extends `${infer Segment}/${infer After}`
      ? Segment extends WordOf<Segment> ? OnlyParams<After, R | Segment> : Eight<`:${Rest}`, [], R>
      : Rest extends WordOf<Rest> ? Params<R | Rest, never> : Eight<`:${Rest}`, [], R>
    : Params<R, never>

type Eight<
  S extends string, Depth extends 0[], R extends PropertyKey = never, O extends PropertyKey = never
> =
  S extends `${infer C}${infer Rest}`
    ? C extends ':' | '*'
      ? Rest extends `"${infer Quoted}` ? QuotedName<Quoted, '', Depth, R, O> : EightName<Rest, '', Depth, R, O>
      : C extends '{' ? Eight<Rest, [...Depth, 0], R, O>
        : C extends '}' ? Eight<Rest, Depth extends [0, ...infer Outer extends 0[]] ? Outer : [], R, O>
          : C extends '\\' ? Eight<DropFirst<Rest>, Depth, R, O>
            : Eight<Rest, Depth, R, O>
    : Params<R, O>

type EightName<
  S extends string, Text extends string, Depth extends 0[], R extends PropertyKey, O extends PropertyKey
> =
  S extends `${infer C}${infer Rest}`
    ? C extends Punctuation ? Named<S, Text, Depth, R, O> : EightName<Rest, `${Text}${C}`, Depth, R, O>
    : Named<S, Text, Depth, R, O>

type QuotedName<
  S extends string, Text extends string, Depth extends 0[], R extends PropertyKey, O extends PropertyKey
> =
  S extends `${infer C}${infer Rest}`
    ? C extends '"' ? Named<Rest, Text, Depth, R, O>
      : C extends '\\'
        ? Rest extends `${infer Escaped}${infer After}`
          ? QuotedName<After, `${Text}${Escaped}`, Depth, R, O>
          : Params<R, O>
        : QuotedName<Rest, `${Text}${C}`, Depth, R, O>
    : Params<R, O>

type Named<
  S extends string, Text extends string, Depth extends 0[], R extends PropertyKey, O extends PropertyKey
> = Depth extends [] ? Eight<S, Depth, R | Text, O> : Eight<S, Depth, R, O | Text>

type Punctuation =
  | ' ' | '!' | '"' | '#' | '%' | '&' | "'" | '(' | ')' | '*' | '+' | ',' | '-' | '.' | '/' | ':' | ';' | '<'
  | '=' | '>' | '?' | '@' | '[' | '\\' | ']' | '^' | '`' | '{' | '|' | '}' | '~'

type DropFirst<S extends string> = S extends `${string}${infer Rest}` ? Rest : ''

type Params<R extends PropertyKey, O extends PropertyKey> = [O] extends [never]
  ? { [K in R]: string }
  : Flat<{ [K in R]: string } & { [K in Exclude<O, R>]?: string }>

type Flat<T> = { [K in keyof T]: T[K] }

// Whether a pattern can match the empty string cannot be decided here: what has something that may be
// repeated no times, or an empty alternative, is taken to.
type MayBeEmpty<P extends string> =
  P extends `${infer Before}(?${':' | '=' | '!' | '<'}${infer After}`
    ? MayBeEmpty<`${Before}(${After}`>
    : P extends `${string}${'*' | '?' | '{0' | '||' | '(|' | '|)'}${string}` | `|${string}` | `${string}|`
      ? true
      : false

type NameCharacter =
  | 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm'
  | 'n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z'
  | 'A' | 'B' | 'C' | 'D' | 'E' | 'F' | 'G' | 'H' | 'I' | 'J' | 'K' | 'L' | 'M'
  | 'N' | 'O' | 'P' | 'Q' | 'R' | 'S' | 'T' | 'U' | 'V' | 'W' | 'X' | 'Y' | 'Z'
  | '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9' | '_'
