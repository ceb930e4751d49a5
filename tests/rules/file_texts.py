"""Files of MATLAB and fuzzylite, in our own words, that tests vary."""

TIPPER = """[System]
Name='tipper'
Type='mamdani'
Version=2.0
NumInputs=2
NumOutputs=1
NumRules=3
AndMethod='min'
OrMethod='max'
ImpMethod='min'
AggMethod='max'
DefuzzMethod='centroid'

[Input1]
Name='service'
Range=[0 10]
NumMFs=3
MF1='poor':'gaussmf',[1.5 0]
MF2='good':'gaussmf',[1.5 5]
MF3='excellent':'gaussmf',[1.5 10]

[Input2]
Name='food'
Range=[0 10]
NumMFs=2
MF1='rancid':'trapmf',[0 0 1 3]
MF2='delicious':'trapmf',[7 9 10 10]

[Output1]
Name='tip'
Range=[0 30]
NumMFs=3
MF1='cheap':'trimf',[0 5 10]
MF2='average':'trimf',[10 15 20]
MF3='generous':'trimf',[20 25 30]

[Rules]
1 1, 1 (1) : 2
2 0, 2 (1) : 1
3 2, 3 (1) : 2
"""

FLL = """Engine: plain
InputVariable: a
  range: 0 1
  term: low Ramp 1 0
  term: high Ramp 0 1
{outputs}
RuleBlock: rules
  conjunction: Minimum
  disjunction: Maximum
  implication: {implication}
  activation: {activation}
{rules}
"""


def fll(outputs, rules, implication="Minimum", activation="General"):
    lines = "".join(f"  rule: {rule}\n" for rule in rules)
    return FLL.format(outputs=outputs, rules=lines, implication=implication, activation=activation)


def weighted(name, terms, *lines, method="WeightedAverage"):
    more = "".join(f"  {line}\n" for line in lines)
    return f"OutputVariable: {name}\n  defuzzifier: {method}\n{more}" + "".join(f"  term: {t}\n" for t in terms)
