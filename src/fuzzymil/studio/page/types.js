// What the server says, as documented in docs/reference/studio.md. Only types: this module is empty when it runs.

/** @typedef {{name: string, title: string, role: string, x: number, y: number}} HandleFacts */
/** @typedef {{name: string, value: number}} Parameter */
/**
 * @typedef {object} Term
 * @property {string} name
 * @property {string} family
 * @property {string} shown for example "Gaussian(0.5, 0.2)"
 * @property {Parameter[]} parameters
 * @property {HandleFacts[]} handles
 * @property {number[]} curve along the axis of the variable
 * @property {boolean} frozen
 * @property {boolean} category
 * @property {number[]} used_by numbers of rules
 */
/**
 * @typedef {object} Variable
 * @property {string} name
 * @property {string} title
 * @property {string | null} unit
 * @property {boolean} input
 * @property {number | null} low
 * @property {number | null} high
 * @property {[number, number]} axis
 * @property {string[]} categories
 * @property {number[]} used_by
 * @property {Term[]} terms
 */
/**
 * @typedef {object} Rule
 * @property {number} number
 * @property {string} name
 * @property {string} label
 * @property {string} comment
 * @property {string} text
 * @property {string} premise
 * @property {string} conclusion
 * @property {Record<string, any>} conclusions
 * @property {number | null} points
 * @property {number} weight
 * @property {boolean} on
 * @property {number | null} line
 * @property {boolean} plain
 * @property {{variable: string, term: string, hedges: string[], negated: boolean}[]} conditions
 */
/**
 * @typedef {object} Data
 * @property {number} n_bags
 * @property {number} n_instances
 * @property {number} n_features
 * @property {string[]} features
 * @property {boolean} labeled
 * @property {Record<string, number>} labels
 * @property {string | null} problem what keeps the rules from reading the data
 */
/** @typedef {{accuracy: number | null, right: number | null, n: number, auc: number | null, rmse: number | null, uncovered: number, changed: number, committee: number | null}} Score */
/**
 * @typedef {object} State
 * @property {number} revision
 * @property {string} name
 * @property {"sugeno" | "mamdani"} kind
 * @property {boolean} additive
 * @property {string} text
 * @property {Variable[]} variables
 * @property {Rule[]} rules
 * @property {string[]} outputs
 * @property {Record<string, number>} default
 * @property {string[] | null} classes
 * @property {string | null} positive
 * @property {number | null} threshold
 * @property {number | null} unit
 * @property {Data | null} data
 * @property {boolean} frontier whether rules of other sizes were chosen, too
 * @property {string} learned how the data shaped the rules: "train", "learn", "model", or not at all
 * @property {string | null} compared of numbers, the output that labels are compared with
 * @property {string | null} undo what undo would take back
 * @property {string | null} redo
 * @property {number} version
 * @property {string} data_name
 * @property {string | null} data_gone why data of an earlier session are not there
 * @property {{n: number, member: number} | null} committee
 * @property {{version: number, name: string}} reference the version that changes are counted from
 * @property {{file: string, version: number} | null} saved the last file written
 * @property {any} training as in the push of that name, or null
 * @property {boolean} proposal whether one waits for an answer
 * @property {string | null} autosave why changes cannot be kept on disk
 */
/** @typedef {{name: string, title: string, parameters: string[]}} Family */
/**
 * @typedef {object} Hello
 * @property {State} state
 * @property {boolean} demo
 * @property {string | null} [draft] text with mistakes that was left behind
 * @property {{edits: number, when: string} | null} recovered
 * @property {string | null} notice what could not be read of an earlier session
 * @property {{format: string, title: string, ending: string}[]} exports
 * @property {{rules: string[], data: string[]}} opens endings
 * @property {string} library version
 * @property {string | null} folder where files are saved
 * @property {Record<string, number>} limits
 * @property {Family[]} families
 * @property {{hedges: string[], quantifiers: string[], keywords: string[], statements: string[]}} words
 */
export {};
